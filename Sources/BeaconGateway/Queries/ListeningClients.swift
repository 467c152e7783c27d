import BeaconCapture
package import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport

/// The clients that range beacons or record adverts, for as long as their streams are open.
package struct ListeningClients {
    /// The beacons that a client ranges.
    package enum Scope: Sendable {
        /// The beacons of each constraint; a nil constraint matches all beacons.
        case constraints([BeaconConstraint?])
        /// The beacons of all configured regions, also after a change of the configuration, and all beacons that the
        /// configuration ranges anyway.
        case regions
    }

    private struct RangingClient {
        var scope: Scope
        var requests: Set<RangingRequestID>
        var continuation: AsyncStream<RangingValue?>.Continuation

        var isOfRegions: Bool { if case .regions = scope { true } else { false } }
    }

    /// The most clients that range at once.
    private static let maximumRanging = 64

    /// The most simultaneous recordings.
    private static let maximumRecordings = 8

    /// The batches that wait for a recording client: some seconds of a busy house. A slower client is disconnected.
    private static let recordingCapacity = 1_000

    private var ranging: [Int: RangingClient] = [:]
    private(set) var recordings: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    /// The requests that range regions for clients only, because the configuration does not.
    private var regionRangings: [BeaconConstraint: RangingRequestID] = [:]
    private var nextNumber = 0

    // MARK: - Ranging

    /// Starts to range beacons for a client.
    ///
    /// - Parameter end: called with the client's number once its stream has ended.
    /// - Returns: the reports of each second, receiver and constraint. A nil report is a heartbeat of the connection.
    ///   Returns nil if too many clients range.
    mutating func range(
        _ scope: Scope, in core: inout MonitoringCore, _ configuration: GatewayConfiguration,
        end: @escaping @Sendable (Int) -> Void
    ) -> AsyncStream<RangingValue?>? {
        guard ranging.count < Self.maximumRanging else { return nil }
        // A slow client gets the newest reports.
        let (stream, continuation) = AsyncStream.makeStream(
            of: RangingValue?.self, bufferingPolicy: .bufferingNewest(64))
        nextNumber += 1
        let number = nextNumber
        var client = RangingClient(scope: scope, requests: [], continuation: continuation)
        if case .constraints(let constraints) = scope {
            client.requests = Set(constraints.map { core.startRanging($0) })
        }
        ranging[number] = client
        continuation.onTermination = { _ in end(number) }
        rangeRegions(of: configuration, in: &core)
        return stream
    }

    /// Ends the ranging of a client.
    mutating func endRanging(_ number: Int, in core: inout MonitoringCore, _ configuration: GatewayConfiguration) {
        guard let client = ranging.removeValue(forKey: number) else { return }
        for request in client.requests { core.stopRanging(request) }
        rangeRegions(of: configuration, in: &core)
    }

    /// Ranges the beacons of all regions while a client needs them. Beacons that the configuration ranges anyway need
    /// no second request.
    mutating func rangeRegions(of configuration: GatewayConfiguration, in core: inout MonitoringCore) {
        let isWanted = ranging.values.contains(where: \.isOfRegions)
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

    /// Returns whether a report is of a region that is ranged only for clients.
    func isForClients(_ report: RangingRequestReport) -> Bool {
        report.constraint.map { regionRangings[$0] == report.request } ?? false
    }

    /// Delivers a report to the clients that requested it.
    ///
    /// - Parameter value: returns a beacon in the form for clients.
    /// - Returns: false if the report is for the configuration or for clients of the regions. The view keeps those.
    func deliver(
        _ report: RangingRequestReport, from receiver: String, value: (RangedBeacon, RangingEvent) -> RangedBeaconValue
    ) -> Bool {
        let owner = ranging.values.first { $0.requests.contains(report.request) }
        let clients = owner.map { [$0] } ?? ranging.values.filter(\.isOfRegions)
        guard !clients.isEmpty else { return false }
        let event = RangingEvent(
            time: report.wallTime, receiver: receiver, constraint: report.constraint, beacons: report.beacons)
        let ranged = RangingValue(
            time: event.time.seconds, receiver: event.receiver,
            region: event.constraint.map(RangingValue.Constraint.init),
            beacons: event.beacons.map { value($0, event) })
        for client in clients { client.continuation.yield(ranged) }
        return owner != nil
    }

    // MARK: - Recording

    /// Starts to record adverts.
    ///
    /// - Parameters:
    ///   - time: the length of the recording.
    ///   - end: called with the client's number once its stream has ended.
    /// - Returns: the lines of a sighting log, in pieces. An empty piece is a heartbeat of the connection. Returns nil
    ///   if too many clients record.
    mutating func record(for time: Duration, end: @escaping @Sendable (Int) -> Void) -> AsyncStream<[UInt8]>? {
        guard recordings.count < Self.maximumRecordings else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(Self.recordingCapacity))
        nextNumber += 1
        let number = nextNumber
        recordings[number] = continuation
        let timer = Task {
            try? await Task.sleep(for: time)
            continuation.finish()
        }
        continuation.onTermination = { _ in
            timer.cancel()
            end(number)
        }
        return stream
    }

    mutating func endRecording(_ number: Int) { recordings[number] = nil }

    /// Delivers a batch to recording clients.
    ///
    /// - Parameter name: returns the name of a receiver.
    func record(_ batch: SourceBatch, of source: GatewaySource, name: (ReceiverID) -> String) {
        guard !recordings.isEmpty, !batch.sightings.isEmpty else { return }
        var lines: [UInt8] = []
        for sighting in batch.sightings {
            guard let receiver = source.listener.sighting(sighting)?.receiver else { continue }
            SightingLogFormat.append(
                sighting, time: sighting.time.advanced(by: source.wallOffset),
                receiver: SightingLogFormat.jsonText(name(receiver)), to: &lines)
        }
        for recording in recordings.values {
            if case .dropped = recording.yield(lines) { recording.finish() }
        }
    }

    // MARK: - Connections

    /// Sends a heartbeat to all clients.
    func beat() {
        for client in ranging.values { client.continuation.yield(nil) }
        for recording in recordings.values { recording.yield([UInt8(ascii: "\n")]) }
    }

    /// Ends all streams, because the daemon ends.
    func finish() {
        for client in ranging.values { client.continuation.finish() }
        for recording in recordings.values { recording.finish() }
    }
}
