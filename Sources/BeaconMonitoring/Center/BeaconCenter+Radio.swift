import BeaconApplications
import BeaconModel
package import BeaconRadio
import Logging
import Synchronization

extension BeaconCenter {
    /// Replaces the radio, and handles its events until they end.
    package nonisolated func use(_ radio: some Radio) {
        perform { center in
            center.listening?.cancel()
            center.radio = radio
            center.radioGeneration += 1
            // A new radio is not scanning, whatever the previous radio did.
            center.scanMode = .off
            center.advertised = []
            center.reportedFailure = nil
            (center.receiverStatuses, center.heardReceivers) = ([], [])
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
    private func receive(_ event: SourceEvent, from generation: Int) {
        if generation == radioGeneration { receive(event) }
    }

    /// Handles an event of the radio.
    package func receive(_ event: SourceEvent) {
        switch event {
        case .opened: reportedFailure = nil
        case .heard(let batch): receive(batch)
        case .deaf(let from, let to, _):
            core.skip(from: from, to: to, of: Self.receiver)
        case .state(let state): setState(state)
        case .advertising(let advert, let result):
            answer(advert, result)
        case .wallClock(let ahead):
            wallOffset.store(ahead, ordering: .relaxed)
            core.setWallOffset(ahead, of: Self.receiver)
        // The sources of apps have no tags.
        case .forged: break
        case .notice(let notice): log(notice)
        case .failed(let error, let retry):
            if retry == nil { setState(.unsupported) }
            // Reports the same failure only once.
            guard reportedFailure != "\(error)" else { break }
            reportedFailure = "\(error)"
            log(RadioNotice(.adapterLost, adapter: radioTitle, "\(error)"))
        case .ended: end()
        }
        deliverEvents()
    }

    /// Handles adverts from the radio.
    private func receive(_ batch: SourceBatch) {
        if radio?.hasReceivers ?? false, batch.receiverStatuses != receiverStatuses {
            receiverStatuses = batch.receiverStatuses
            updateHearing()
            deliverEvents()
        }
        if !batch.adverts.isEmpty, radioState == .poweredOn {
            for id in clientOrder where clients[id]?.isScanning == true { deliver(.heard(batch.adverts), to: id) }
        }
        if let last = batch.sightings.last {
            if status.isGranted, radioState == .poweredOn {
                core.receive(
                    batch.sightings.map { heard in
                        heardReceivers.insert(heard.receiver)
                        // For a center, all receivers of the radio are one.
                        var sighting = heard
                        sighting.receiver = Self.receiver
                        return sighting
                    })
                note(last.time)
            } else {
                advance(to: last.time)
            }
            deliverEvents()
        }
        if let time = batch.time { advance(to: time) }
    }

    private func setState(_ state: RadioState) {
        guard state != radioState else { return }
        radioState = state
        updateOutage()
        // Publishes before delivering, so that a client that then reads the snapshot finds the same state.
        publish()
        deliverToAll(.radio(state))
        update()
    }

    /// Handles the end of a recording. It causes no exits, and the source is not opened again. A radio has no end.
    private func end() {
        guard let radio, let state = radio.stateAtEnd else { return }
        log(
            RadioNotice(
                .sourceEnded, adapter: radio.title,
                "the source has ended; there will be no more adverts"
                    + (state == .poweredOff ? "; to repeat it, append ?loop to its name" : "")))
        setState(state)
    }

    private var radioTitle: String { radio?.title ?? "radio" }

    private func log(_ notice: RadioNotice) {
        logger.log(level: notice.isTrouble ? .warning : .info, "\(notice)", metadata: ["kind": "\(notice.kind)"])
    }

    private func advance(to time: Timestamp) {
        note(time)
        core.advance(to: time)
        // The failure of a radio that does not return becomes due by time alone.
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
        // Only the center writes, so there is no race between the load and the store.
        guard time.nanoseconds > newestTime.load(ordering: .relaxed) else { return }
        newestTime.store(time.nanoseconds, ordering: .relaxed)
        missed.advance(to: time)
    }
}
