import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport

/// What the console has the gateway do: range beacons for a listener, and be a beacon.
extension Gateway {
    /// The beacons that a listener ranges.
    enum RangingScope: Sendable {
        /// Those of each constraint; nil in it for all beacons.
        case constraints([BeaconConstraint?])
        /// Those of all regions of the configuration, also after a change of it, and those that it has ranged anyway.
        case regions
    }

    /// A client that ranges beacons for as long as its stream is open.
    struct RangingListener {
        var scope: RangingScope
        var requests: Set<RangingRequestID>
        var continuation: AsyncStream<RangingValue?>.Continuation

        var isOfRegions: Bool { if case .regions = scope { true } else { false } }
    }

    /// The most clients that range at once.
    static let mostListeners = 64

    /// Begins to range beacons for a client.
    ///
    /// - Returns: the report of each second, receiver and constraint, and nil now and then, which says that the
    ///   listener is heard; ranging ends with it. Nil where too many clients range.
    func range(_ scope: RangingScope) -> AsyncStream<RangingValue?>? {
        guard rangingListeners.count < Self.mostListeners else { return nil }
        // Who falls behind wants the newest.
        let (stream, continuation) = AsyncStream.makeStream(
            of: RangingValue?.self, bufferingPolicy: .bufferingNewest(64))
        nextListener += 1
        let number = nextListener
        var listener = RangingListener(scope: scope, requests: [], continuation: continuation)
        if case .constraints(let constraints) = scope {
            listener.requests = Set(constraints.map { core.startRanging($0) })
        }
        rangingListeners[number] = listener
        continuation.onTermination = { _ in Task { await self.endRanging(number) } }
        updateRegionRanging()
        updateScanMode()
        return stream
    }

    private func endRanging(_ number: Int) {
        guard let listener = rangingListeners.removeValue(forKey: number) else { return }
        for request in listener.requests { core.stopRanging(request) }
        updateRegionRanging()
        updateScanMode()
    }

    /// Ranges the beacons of all regions while a listener wants them. Those that the configuration has ranged anyway
    /// need no second request.
    func updateRegionRanging() {
        let isWanted = rangingListeners.values.contains(where: \.isOfRegions)
        let ranged = MonitoringPlan(configuration).rangings
        let wanted = Set(isWanted ? configuration.regions.map(\.region.constraint) : []).subtracting(ranged)
        for (constraint, request) in regionRangings where !wanted.contains(constraint) {
            core.stopRanging(request)
            regionRangings[constraint] = nil
        }
        for constraint in wanted where regionRangings[constraint] == nil {
            regionRangings[constraint] = core.startRanging(constraint)
        }
    }

    /// Tells clients that range or record that they are connected.
    func greetListeners() {
        for listener in rangingListeners.values { listener.continuation.yield(nil) }
        for recording in recordings.values { recording.yield([UInt8(ascii: "\n")]) }
    }

    /// Ends the streams of all clients that range or record, since the daemon ends.
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

    /// Hands a report to the listeners that asked for it.
    ///
    /// - Returns: false where it is for the configuration or for the regions' listeners, whose reports the view keeps.
    func deliverToListener(_ report: RangingRequestReport) -> Bool {
        let owner = rangingListeners.values.first { $0.requests.contains(report.request) }
        let listeners = owner.map { [$0] } ?? rangingListeners.values.filter(\.isOfRegions)
        guard !listeners.isEmpty else { return false }
        let event = RangingEvent(
            time: report.wallTime, receiver: name(report.receiver), constraint: report.constraint,
            beacons: report.beacons)
        let ranged = RangingValue(
            time: event.time.seconds, receiver: event.receiver,
            region: event.constraint.map(RangingValue.Constraint.init),
            beacons: event.beacons.map { value(of: $0, in: event) })
        for listener in listeners { listener.continuation.yield(ranged) }
        return owner != nil
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
        guard advertised != nil,
            let radio = sources.first(where: { !$0.isRemoved && $0.settings.specification.canSend })
        else { return }
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
