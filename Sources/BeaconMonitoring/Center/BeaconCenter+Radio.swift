import BeaconApplications
import BeaconModel
package import BeaconRadio
import Logging
import Synchronization

extension BeaconCenter {
    /// Uses a radio in place of another from now on, and handles its events until they end.
    package nonisolated func use(_ radio: some Radio) {
        perform { center in
            center.listening?.cancel()
            center.radio = radio
            center.radioGeneration += 1
            // A new radio does not scan, whatever the one before did.
            center.scanMode = .off
            center.advertised = []
            let generation = center.radioGeneration
            let events = radio.events()
            center.listening = Task { [weak center] in
                for await event in events {
                    guard let center else { return }
                    await center.receive(event, from: generation)
                }
            }
            center.update()
            center.updateAdvertising()
        }
    }

    /// Handles an event of a radio, unless another has replaced it.
    private func receive(_ event: RadioEvent, from generation: Int) {
        if generation == radioGeneration { receive(event) }
    }

    /// Handles an event of the radio.
    package func receive(_ event: RadioEvent) {
        switch event {
        case .time(let time):
            advance(to: time)
        case .sightings(let sightings):
            guard status.isGranted, radioState == .poweredOn else {
                if let last = sightings.last { advance(to: last.time) }
                break
            }
            for var sighting in sightings {
                heardReceivers.insert(sighting.receiver)
                // All receivers of the radio are one for a center.
                sighting.receiver = Self.receiver
                core.receive(sighting)
            }
            if let last = sightings.last { note(last.time) }
        case .receivers(let statuses):
            receiverStatuses = statuses
            core.setHearing(hearing, of: Self.receiver)
        case .deaf(let from, let to, _):
            core.skip(from: from, to: to, of: Self.receiver)
        case .state(let state):
            guard state != radioState else { return }
            radioState = state
            updateOutage()
            // Published before it is delivered, so that a client that then reads the snapshot finds the same state.
            publish()
            deliverToAll(.radio(state))
            update()
        case .advertising(let frame, let result):
            answer(frame, result)
        case .wallClock(let ahead):
            wallOffset.store(ahead, ordering: .relaxed)
            core.setWallOffset(ahead, of: Self.receiver)
        case .notice(let notice):
            logger.log(level: notice.isTrouble ? .warning : .info, "\(notice)", metadata: ["kind": "\(notice.kind)"])
        }
        deliverEvents()
    }

    private func advance(to time: Timestamp) {
        note(time)
        core.advance(to: time)
        // Failures of a radio that does not come back are due with time alone.
        guard let outage, !outage.isLasting else { return }
        if outage.since < 0 { self.outage?.since = time.nanoseconds }
        updateOutage()
        if self.outage?.isLasting == true { updateRangingFailures() }
    }

    /// Updates the outage from the radio's state and the time.
    private func updateOutage() {
        guard radioState.hearing != .hearing else { return outage = nil }
        let time = newestTime.load(ordering: .relaxed)
        var outage = self.outage ?? Outage(since: time)
        let isPatienceOver = outage.since >= 0 && time - outage.since >= MonitoringCore.patience
        if radioState.hearing == .lost || isPatienceOver { outage.isLasting = true }
        switch radioState {
        case .unsupported, .unauthorized: outage.isHopeless = true
        case .poweredOff, .poweredOn: outage.isHopeless = false
        case .unknown, .resetting: break
        }
        self.outage = outage
    }

    private func note(_ time: Timestamp) {
        // Only the center writes, so that nothing can come between the two.
        guard time.nanoseconds > newestTime.load(ordering: .relaxed) else { return }
        newestTime.store(time.nanoseconds, ordering: .relaxed)
        missed.advance(to: time)
    }
}
