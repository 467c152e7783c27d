import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport

/// What the console has the gateway do: range beacons for a listener, and be a beacon.
extension Gateway {
    /// A listener to ranging, for as long as somebody looks.
    struct RangingListener {
        var requests: Set<RangingRequestID>
        var continuation: AsyncStream<RangingValue?>.Continuation
    }

    /// The most that may range at once, each for constraints of its own.
    static let mostListeners = 64

    /// Begins to range beacons for somebody who looks.
    ///
    /// - Parameter constraints: the beacons; nil in it for all.
    /// - Returns: the report of each second, receiver and constraint, and nil now and then, which says that the
    ///   listener is heard; ranging ends with it. Nil where too many look.
    func range(_ constraints: [BeaconConstraint?]) -> AsyncStream<RangingValue?>? {
        guard rangingListeners.count < Self.mostListeners else { return nil }
        // Who falls behind wants the newest.
        let (stream, continuation) = AsyncStream.makeStream(
            of: RangingValue?.self, bufferingPolicy: .bufferingNewest(64))
        nextListener += 1
        let number = nextListener
        rangingListeners[number] = RangingListener(
            requests: Set(constraints.map { core.startRanging($0) }), continuation: continuation)
        continuation.onTermination = { _ in Task { await self.endRanging(number) } }
        updateScanMode()
        return stream
    }

    /// The time for which somebody who has asked for beacons is taken to look.
    private static let attention = Duration.seconds(30)

    /// Has the beacons of all regions ranged for a while, since somebody looks at them. Where the configuration has
    /// them ranged in any case, nothing changes.
    func lookAtBeacons() {
        viewEnd = .now + Self.attention
        guard viewRequests.isEmpty else { return }
        let ranged = MonitoringPlan(configuration).rangings
        for region in configuration.regions where !ranged.contains(region.region.constraint) {
            viewRequests.insert(core.startRanging(region.region.constraint))
        }
        updateScanMode()
    }

    /// Takes it that nobody looks any more.
    func endAttention() { viewEnd = viewEnd.map { min($0, .now - .seconds(1)) } }

    /// Tells those who range beacons that they are connected, and ends what nobody looks at any more.
    func greetListeners() {
        if let viewEnd, viewEnd < .now {
            self.viewEnd = nil
            for request in viewRequests { core.stopRanging(request) }
            viewRequests = []
            updateScanMode()
        }
        for listener in rangingListeners.values { listener.continuation.yield(nil) }
        for recording in recordings.values { recording.yield([UInt8(ascii: "\n")]) }
    }

    /// Ends the streams of all who range beacons or record, since the daemon ends.
    func endListeners() {
        for listener in rangingListeners.values { listener.continuation.finish() }
        for recording in recordings.values { recording.finish() }
    }

    // MARK: - Recording

    /// The most recordings at once.
    private static let mostRecordings = 8

    /// The batches that wait for whoever records: some seconds of a busy house. Who takes them more slowly is ended.
    private static let recordingCapacity = 1_000

    /// Begins to record what is heard.
    ///
    /// - Parameter time: how long.
    /// - Returns: the lines of a sighting log, in pieces, of which empty ones say that the recording goes on; nil where
    ///   too many record.
    func record(for time: Duration) -> AsyncStream<[UInt8]>? {
        guard recordings.count < Self.mostRecordings else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(Self.recordingCapacity))
        nextListener += 1
        let number = nextListener
        recordings[number] = continuation
        let timer = Task {
            try? await Task.sleep(for: time)
            continuation.finish()
        }
        continuation.onTermination = { _ in
            timer.cancel()
            Task { await self.endRecording(number) }
        }
        return stream
    }

    private func endRecording(_ number: Int) { recordings[number] = nil }

    /// Hands what was heard to those who record.
    func record(_ batch: SourceBatch, of number: Int) {
        guard !recordings.isEmpty, !batch.sightings.isEmpty else { return }
        let source = sources[number]
        let names = source.receivers.indices.map { SightingLogFormat.jsonText(source.name($0)) }
        var lines: [UInt8] = []
        for sighting in batch.sightings where names.indices.contains(Int(sighting.receiver.index)) {
            SightingLogFormat.append(
                sighting, time: sighting.time.advanced(by: source.wallOffset),
                receiver: names[Int(sighting.receiver.index)], to: &lines)
        }
        for recording in recordings.values {
            if case .dropped = recording.yield(lines) { recording.finish() }
        }
    }

    private func endRanging(_ number: Int) {
        guard let listener = rangingListeners.removeValue(forKey: number) else { return }
        for request in listener.requests { core.stopRanging(request) }
        updateScanMode()
    }

    /// Hands a report to the listener that asked for it.
    ///
    /// - Returns: false where it is for the configuration.
    func deliverToListener(_ report: RangingRequestReport) -> Bool {
        guard let listener = rangingListeners.values.first(where: { $0.requests.contains(report.request) }) else {
            return false
        }
        let event = RangingEvent(
            time: report.wallTime, receiver: name(report.receiver), constraint: report.constraint,
            beacons: report.beacons)
        listener.continuation.yield(
            RangingValue(
                time: event.time.seconds, receiver: event.receiver,
                region: event.constraint.map(RangingValue.Constraint.init),
                beacons: event.beacons.map { value(of: $0, in: event) }))
        return true
    }

    // MARK: - Being a beacon

    /// What this machine sends, and whether it does.
    var advertisingValue: AdvertisingValue {
        let hasRadio = configuration.sources.contains { $0.specification.canSend }
        var value = AdvertisingValue(possible: hasRadio, reason: nil, beacon: advertised)
        if !hasRadio {
            value.reason = "no source of the configuration is a radio; recordings and simulations cannot send"
        }
        return value
    }

    /// Has this machine be a beacon, or be none.
    func advertise(_ beacon: AdvertisingValue.Beacon, _ frame: IBeaconFrame) {
        advertised = beacon
        advertised?.state = beacon.enabled ? "starting" : "off"
        advertised?.reason = nil
        advertisedFrame = beacon.enabled ? frame : nil
        sendFrame()
        broadcast?.send(.changed([.advertising]))
    }

    /// Has the first radio send what is to be sent, once there is one.
    func sendFrame() {
        guard advertised != nil, let radio = sources.first(where: { $0.settings.specification.canSend }) else { return }
        radio.runner.advertise(advertisedFrame.map { [$0] } ?? [])
    }

    /// Takes in what became of a frame.
    func receive(_ frame: IBeaconFrame, _ result: Result<Void, RadioError>) {
        guard frame == advertisedFrame else { return }
        switch result {
        case .success:
            advertised?.state = "on"
            advertised?.reason = nil
        case .failure(let error):
            advertised?.state = "failed"
            advertised?.reason = "\(error)"
        }
        broadcast?.send(.changed([.advertising]))
    }
}
