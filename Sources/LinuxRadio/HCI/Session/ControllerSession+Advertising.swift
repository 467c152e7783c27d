import BeaconModel
import BeaconRadio
import BeaconSupport

/// The outcomes of the adverts to send, each reported once.
struct AdvertisingOutcomes {
    /// The adverts that wait for an outcome.
    private var waiting: [OutgoingAdvert] = []

    /// The adverts whose last reported outcome was a failure.
    private var failed: Set<OutgoingAdvert> = []

    /// Starts over with the adverts of a request.
    mutating func begin(_ adverts: [OutgoingAdvert]) {
        waiting = adverts
        failed = []
    }

    /// Returns the adverts whose success must be reported.
    mutating func succeeded(_ adverts: [OutgoingAdvert]) -> [OutgoingAdvert] {
        guard !waiting.isEmpty else { return [] }
        let new = waiting.filter(adverts.contains)
        waiting.removeAll(where: new.contains)
        failed.subtract(new)
        return new
    }

    /// Returns the adverts whose failure must be reported. A later success is then reported again.
    mutating func failed(_ adverts: [OutgoingAdvert]) -> [OutgoingAdvert] {
        let new = adverts.filter { failed.insert($0).inserted }
        waiting += new.filter { !waiting.contains($0) }
        return new
    }
}

extension ControllerSession {
    /// Sets the adverts to send. An event reports each advert's outcome.
    mutating func advertise(_ adverts: [OutgoingAdvert], at now: Timestamp) {
        advertising.want(adverts)
        advertising.retry()
        outcomes.begin(advertising.wanted)
        isTurnTakingReported = false
        refuseAdvertising()
        reportAdvertising()
        proceed(at: now)
    }

    /// Changes the adverts' addresses at this interval in nanoseconds; nil to keep them.
    mutating func rotateAddresses(every rotation: Int64?, at now: Timestamp) {
        self.rotation = rotation
        rotationEnd = rotation.map { now.advanced(by: $0) } ?? .latest
    }

    /// Reports to all waiting adverts that this adapter cannot send. An adapter that is off may be switched on, so that
    /// is no reason to refuse.
    mutating func refuseAdvertising() {
        let error: RadioError
        switch state {
        case .unsupported:
            error = RadioError(.unsupported, "\(name) has no Bluetooth LE. Use another adapter.")
        case .unauthorized:
            error = RadioError(
                .notPermitted, "\(name) is off, and this process may not switch it on. \(HCIPermission.remedy)")
        case .unknown, .resetting, .poweredOff, .poweredOn: return
        }
        for advert in outcomes.failed(advertising.wanted) { report(.advertising(advert, .failure(error))) }
    }

    /// Handles an advertising command that the controller carried out.
    mutating func advertisingSucceeded(_ command: HCICommand, at now: Timestamp) {
        advertising.done(command)
        reportAdvertising()
        guard advertising.isSettled else { return }
        if !advertising.isHeldUp { advertisingBackoff.reset() }
        turnEnd = now.advanced(by: configuration.turn)
    }

    /// Handles an advertising command that the controller refused, which ends the attempt for its adverts.
    mutating func advertisingFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        let why =
            status == .disallowed
            ? "other software advertises with it. Use another adapter, or end it: bluetoothctl advertise off"
            : "\(status)."
        let error = RadioError(.failed, "\(name) refused \(command.opcode): \(why)")
        for advert in outcomes.failed(advertising.refused) { report(.advertising(advert, .failure(error))) }
        advertisingRetry = now.advanced(by: advertisingBackoff.next().clampedNanoseconds)
    }

    /// Performs the advertising operations that are due.
    mutating func advanceAdvertising(to now: Timestamp) {
        guard phase == .working else { return }
        if advertising.isHeldUp, now >= advertisingRetry { advertising.retry() }
        if let rotation, now >= rotationEnd {
            rotationEnd = now.advanced(by: rotation)
            advertising.renewAddresses()
        }
        guard advertising.takesTurns, now >= turnEnd else { return }
        turnEnd = now.advanced(by: configuration.turn)
        if advertising.isSettled { advertising.advanceTurns() }
    }

    private mutating func reportAdvertising() {
        let adverts = outcomes.succeeded(advertising.onAir)
        guard !adverts.isEmpty else { return }
        if advertising.takesTurns, !isTurnTakingReported {
            isTurnTakingReported = true
            report(
                .degraded,
                "the adapter sends \(advertising.slotCount) beacons at a time, so \(advertising.wanted.count) take turns of "
                    + "\(Self.seconds(configuration.turn)).")
        }
        for advert in adverts { report(.advertising(advert, .success(()))) }
    }
}
