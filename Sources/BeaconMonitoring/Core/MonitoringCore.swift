package import BeaconEngine
package import BeaconModel
package import BeaconRadio

/// The core between sources of adverts and clients: the engine, the conditions and ranging requests of all clients, the
/// one rule for outages, the wall clock and the scan mode.
///
/// It does no I/O and reads no clock. The command line, the center of an application and beacond are thin around it.
///
/// **Not hearing is not absence.** A receiver hears, or it is deaf. While no receiver hears whose silence would say
/// something of a region, nothing of the region expires. After a deafness that lasts, the region's state is published
/// as unknown, and the state that was known last is kept: once a receiver hears again, it is compared with what is
/// heard, so that a region that was inside and still is was never entered anew, and one that was inside and is not any
/// more is left. A region whose state was never known is outside once a receiver has heard for the region's exit
/// time-out, and nothing of the region: a state that becomes known, and no exit.
package struct MonitoringCore: ~Copyable {
    /// The hearing of a receiver.
    package enum Hearing: Hashable, Sendable {
        /// Silence means that there is nothing to hear.
        case hearing
        /// Nothing comes from it at the moment, and nobody knows so far whether there is anything to hear: nothing
        /// expires, and nothing is published, until that is known. Where it is hearing then, it was all the time.
        case doubtful
        /// Nothing is heard at the moment, and this may end soon: an adapter is being reset.
        case interrupted
        /// Nothing is heard until something changes: the radio is off, removed, or not permitted.
        case lost
    }

    /// An interruption that takes longer than this lasts. It is a choice: long enough for an adapter to be reset, which
    /// clients then need not hear of, and much shorter than the time after which a region is usually left.
    package static let patience = 5 * Timestamp.nanosecondsPerSecond

    enum Phase {
        /// The engine's state is the state that is known.
        case settled
        /// No receiver hears whose silence would say something: the receiver that kept the region, or nil for any.
        case deaf(ReceiverID?)
        /// The state that was known is being compared with what the holder, or nil for any, hears.
        case comparing(ReceiverID?)
    }

    struct Condition {
        let region: MonitoredRegion
        var engineID: RegionID
        var known: RegionState
        var published: RegionState
        var phase = Phase.settled
    }

    struct Deafness {
        /// When it began, in nanoseconds; nil until there is a time.
        var since: Int64?
        var isLasting: Bool
    }

    private struct Request {
        var id: RangingRequestID
        var constraint: BeaconConstraint?
    }

    var engine: Engine
    private var nextNumber: UInt64 = 0

    var conditions: [ConditionID: Condition] = [:] {
        didSet { conditionChanges &+= 1 }
    }
    /// Counts the changes of conditions. What depends on their states alone is as it was while this is.
    package private(set) var conditionChanges: UInt64 = 0
    var conditionsByRegion: [RegionID: ConditionID] = [:]
    /// How many conditions there are of each UUID.
    private var uuids: [ProximityUUID: Int] = [:]

    /// The places in which beacons are located; nil where none are.
    var places: PlacePlan?
    var placeNames: [String] = []
    var placeReceivers: [String: Int] = [:]
    var receiverNames: [ReceiverID: String] = [:]

    /// Looks for identities behind which there is more than one device; nil where nobody wants to know.
    var suspicions: SuspicionDetector?
    var positions: [String: ReceiverPosition] = [:]

    /// What was measured of receivers, by their names.
    let calibrations: CalibrationSet

    private var requests: [RangingRequestID: RangingID] = [:]
    private var requestsByRanging: [RangingID: Request] = [:]
    private var smoothed: Set<ReceiverID> = []

    var deafness: [ReceiverID: Deafness] = [:]
    /// The receivers of which nobody knows whether they hear.
    private var doubts: Set<ReceiverID> = []
    /// Those of them that are known to hear, once what they heard is in.
    private var resolved: Set<ReceiverID> = []
    var knownReceivers: Set<ReceiverID> = []
    /// When the next interruption begins to last, in nanoseconds.
    var nextPatience: Int64 = .max

    /// The nanoseconds by which the wall clock is ahead of the core's: by receiver, and the newest for what no receiver
    /// caused.
    private var wallOffsets: [ReceiverID: Int64] = [:]
    private var newestWallOffset: Int64 = 0

    var newest: Int64 = -1
    var events: [MonitoringEvent] = []

    /// Creates a core that monitors nothing.
    ///
    /// - Parameters:
    ///   - configuration: the engine's settings.
    ///   - calibrations: what was measured of receivers and beacons.
    package init(
        _ configuration: EngineConfiguration = EngineConfiguration(), calibrations: CalibrationSet = CalibrationSet()
    ) {
        var configuration = configuration
        configuration.beaconCalibrations.merge(calibrations.beaconCalibrations) { set, _ in set }
        engine = Engine(configuration: configuration)
        self.calibrations = calibrations
    }

    // MARK: - Requests

    /// Begins to monitor a region.
    ///
    /// - Parameters:
    ///   - region: the region, with its rules.
    ///   - state: its state as it was known before, from an earlier run for instance.
    ///   - holder: the receiver that kept a region that was inside, whose silence alone decides; nil where none is
    ///     known.
    package mutating func startMonitoring(
        _ region: MonitoredRegion, assuming state: RegionState = .unknown, heldBy holder: ReceiverID? = nil
    ) -> ConditionID {
        nextNumber += 1
        let id = ConditionID(number: nextNumber)
        let engineID = engine.startMonitoring(region, assuming: state, heldBy: holder)
        conditions[id] = Condition(region: region, engineID: engineID, known: state, published: state)
        conditionsByRegion[engineID] = id
        uuids[region.constraint.uuid, default: 0] += 1
        if !deafness.isEmpty { review(id) }
        return id
    }

    /// Ends the monitoring of a region. Doing so twice is harmless.
    package mutating func stopMonitoring(_ id: ConditionID) {
        drain()
        guard let condition = conditions.removeValue(forKey: id) else { return }
        engine.stopMonitoring(condition.engineID)
        conditionsByRegion[condition.engineID] = nil
        let uuid = condition.region.constraint.uuid
        uuids[uuid, default: 1] -= 1
        if uuids[uuid] == 0 { uuids[uuid] = nil }
    }

    /// Returns the state that was known last: the one to be stored.
    package func knownState(of id: ConditionID) -> RegionState { conditions[id]?.known ?? .unknown }

    /// Returns the receiver whose silence alone decides over a region that is inside; nil where that of any does.
    package func holder(of id: ConditionID) -> ReceiverID? {
        guard let condition = conditions[id], condition.known == .inside else { return nil }
        switch condition.phase {
        case .settled: return engine.holder(of: condition.engineID)
        case .deaf(let holder), .comparing(let holder): return holder
        }
    }

    /// Returns what decides over a region; nil where it is not monitored.
    package func explanation(of id: ConditionID) -> RegionExplanation? {
        conditions[id].flatMap { engine.explanation(of: $0.engineID) }
    }

    /// Returns the state as clients know it: unknown while no receiver hears that could determine it.
    package func publishedState(of id: ConditionID) -> RegionState { conditions[id]?.published ?? .unknown }

    /// Begins to report on beacons each whole second.
    ///
    /// - Parameter constraint: the beacons; nil for all.
    package mutating func startRanging(_ constraint: BeaconConstraint?) -> RangingRequestID {
        nextNumber += 1
        let id = RangingRequestID(number: nextNumber)
        let ranging = engine.startRanging(constraint)
        requests[id] = ranging
        requestsByRanging[ranging] = Request(id: id, constraint: constraint)
        return id
    }

    /// Ends the reports of a request. Doing so twice is harmless.
    package mutating func stopRanging(_ id: RangingRequestID) {
        drain()
        guard let ranging = requests.removeValue(forKey: id) else { return }
        engine.stopRanging(ranging)
        requestsByRanging[ranging] = nil
    }

    /// The scan mode that the requests need.
    package var scanMode: ScanMode {
        if !requests.isEmpty || places != nil || suspicions != nil { return .ranging }
        return uuids.isEmpty ? .off : .monitoring(Set(uuids.keys))
    }

    /// The engine's counts.
    package var statistics: EngineStatistics { engine.statistics }

    // MARK: - Receivers

    /// Adds a receiver, so that it has reports of its own even while it hears no beacon.
    package mutating func addReceiver(_ receiver: ReceiverID) {
        guard knownReceivers.insert(receiver).inserted else { return }
        engine.addReceiver(receiver)
    }

    /// Sets the hearing of a receiver. All hear unless this says otherwise.
    ///
    /// - Parameters:
    ///   - hearing: the hearing.
    ///   - receiver: the receiver.
    ///   - time: since when; nil for the newest time.
    package mutating func setHearing(_ hearing: Hearing, of receiver: ReceiverID, at time: Timestamp? = nil) {
        addReceiver(receiver)
        let time = time ?? Timestamp(nanoseconds: max(newest, 0))
        switch hearing {
        case .doubtful:
            resolved.remove(receiver)
            guard deafness[receiver] == nil, doubts.insert(receiver).inserted else { return }
            engine.setHearing(false, of: receiver, at: time, isDoubt: true)
            return drain()
        case .hearing where doubts.contains(receiver) && deafness[receiver] == nil:
            // What it heard comes first: a beacon that it heard is not left.
            resolved.insert(receiver)
            return
        case .hearing:
            guard let ended = deafness.removeValue(forKey: receiver) else { return }
            if ended.isLasting { engine.resetRanging(of: receiver) }
        case .interrupted:
            guard deafness[receiver] == nil else { return }
            deafness[receiver] = Deafness(since: newest < 0 ? nil : time.nanoseconds, isLasting: false)
        case .lost:
            guard deafness[receiver]?.isLasting != true else { return }
            deafness[receiver] = Deafness(since: deafness[receiver]?.since ?? time.nanoseconds, isLasting: true)
        }
        doubts.remove(receiver)
        resolved.remove(receiver)
        engine.setHearing(hearing == .hearing, of: receiver, at: time)
        if newest >= 0 { newest = max(newest, time.nanoseconds) }
        drain()
        updatePatience()
        reviewAll()
    }

    /// Sets whether a receiver's signal strengths come smoothed and thinned. They count for presence and places; a
    /// distance each second cannot be made of them, and is not.
    package mutating func setSmoothed(_ isSmoothed: Bool, of receiver: ReceiverID) {
        if isSmoothed { smoothed.insert(receiver) } else { smoothed.remove(receiver) }
    }

    /// Counts a stretch of deafness that was learnt of afterwards: a suspend, or a stopped process. It is to be called
    /// before time advances to its end.
    ///
    /// - Parameters:
    ///   - from: when the receiver ceased to hear.
    ///   - to: when it heard again.
    ///   - receiver: the receiver.
    package mutating func skip(from: Timestamp, to: Timestamp, of receiver: ReceiverID) {
        addReceiver(receiver)
        if doubts.remove(receiver) != nil {
            // It is known now that it was deaf, and until it hears again all of that counts.
            resolved.remove(receiver)
            deafness[receiver] = Deafness(since: newest < 0 ? nil : newest, isLasting: false)
            engine.setHearing(false, of: receiver, at: Timestamp(nanoseconds: max(newest, 0)))
            updatePatience()
        }
        engine.skip(from: from, to: to, of: receiver)
        if to.since(from) >= Self.patience { engine.resetRanging(of: receiver) }
        drain()
    }

    /// Sets the lead of the wall clock over the core's times for what a receiver hears, negative where it is behind.
    ///
    /// For a radio it is the difference that a step of the wall clock made; for a file or a simulation that is played
    /// on the core's clock, the difference to its own times.
    package mutating func setWallOffset(_ nanoseconds: Int64, of receiver: ReceiverID) {
        wallOffsets[receiver] = nanoseconds
        newestWallOffset = nanoseconds
    }

    /// Returns a time by the wall clock, for what a receiver caused or no receiver did.
    func wall(_ time: Timestamp, of receiver: ReceiverID?) -> Timestamp {
        let offset = receiver.flatMap { wallOffsets[$0] } ?? newestWallOffset
        return offset == 0 ? time : time.advanced(by: offset)
    }

    // MARK: - Input

    /// The newest time; nil before the first.
    package var time: Timestamp? { newest < 0 ? nil : Timestamp(nanoseconds: newest) }

    /// Processes a sighting, after all that was due before it.
    @inline(__always)
    package mutating func receive(_ sighting: Sighting) {
        if sighting.time.nanoseconds > newest { note(sighting.time.nanoseconds) }
        engine.receive(sighting)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(sighting) }
    }

    /// Processes sightings in their order, as ``receive(_:)`` would, and in less time.
    package mutating func receive(_ sightings: [Sighting]) {
        var place = 0
        while place < sightings.count {
            let end = min(place + Engine.mostExpected, sightings.count)
            if end - place > 1 { engine.expect(sightings.span.extracting(place..<end)) }
            while place < end {
                receive(sightings[place])
                place += 1
            }
        }
    }

    /// Advances the time up to and including `time`.
    package mutating func advance(to time: Timestamp) {
        if !resolved.isEmpty { endDoubts() }
        note(time.nanoseconds)
        engine.advance(to: time)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(at: time) }
    }

    /// Advances the time up to `time`, at which more may happen: what is due at that very moment waits.
    @inline(__always)
    package mutating func advance(upTo time: Timestamp) {
        if !resolved.isEmpty { endDoubts() }
        if time.nanoseconds > newest { note(time.nanoseconds) }
        engine.advance(upTo: time)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(at: time) }
    }

    /// Has receivers hear that turned out to do so all the time: what was due meanwhile happens now.
    @inline(never)
    private mutating func endDoubts() {
        let time = Timestamp(nanoseconds: max(newest, 0))
        for receiver in resolved.sorted(by: { $0.index < $1.index }) {
            doubts.remove(receiver)
            engine.setHearing(true, of: receiver, at: time, wasHearing: true)
        }
        resolved = []
        drain()
    }

    /// Returns what has happened since the last call, in order.
    package mutating func takeEvents() -> [MonitoringEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    /// True where ``takeEvents()`` would return anything.
    package var hasEvents: Bool { !events.isEmpty }

    /// Sets the newest time, if `time` is newer.
    @inline(__always)
    private mutating func note(_ time: Int64) {
        let isFirst = newest < 0
        newest = max(newest, time)
        if isFirst || newest >= nextPatience { reviewPatience(isFirst: isFirst) }
    }

    // MARK: - Events

    /// Handles the engine's events.
    @inline(never)
    mutating func drain() {
        for event in engine.takeEvents() {
            switch event {
            case .entered(let change): settle(change, as: .inside)
            case .exited(let change), .determined(let change): settle(change, as: .outside)
            case .located(let time, let beacons): events.append(.located(self.event(of: beacons, at: time)))
            case .placed(let change): events.append(.placed(self.event(of: change)))
            case .uncalibrated(let beacon):
                let receiver = receiverNames[beacon.receiver] ?? "receiver \(beacon.receiver.index)"
                events.append(.notice(RadioNotice(beacon, by: receiver)))
            case .ranged(let report):
                guard let request = requestsByRanging[report.ranging], !smoothed.contains(report.receiver) else {
                    continue
                }
                events.append(
                    .ranged(
                        RangingRequestReport(
                            request: request.id, constraint: request.constraint, time: report.time,
                            wallTime: wall(report.time, of: report.receiver), receiver: report.receiver,
                            beacons: report.beacons)))
            }
        }
    }

    /// Sets the state of a condition, which is known, or known again.
    private mutating func settle(_ change: RegionChange, as state: RegionState) {
        guard let id = conditionsByRegion[change.region], let condition = conditions[id] else { return }
        let before = condition.known
        conditions[id]?.known = state
        conditions[id]?.published = state
        // After an outage, the silence of the receiver that kept the region has decided.
        var receiver = change.receiver
        switch condition.phase {
        case .settled: break
        case .deaf(let holder), .comparing(let holder):
            receiver = receiver ?? holder
            replace(id, by: condition.region, assuming: state, heldBy: change.receiver, phase: .settled)
        }
        // A region that is where it was before the outage was neither entered nor left.
        let kind: RegionEvent.Kind =
            switch (before, state) {
            case (.inside, .inside), (_, .unknown): .state
            case (_, .inside): .enter
            case (.inside, .outside): .exit
            case (_, .outside): .state
            }
        events.append(
            .state(
                ConditionChange(
                    condition: id, kind: kind, state: state, before: before, time: change.time,
                    wallTime: wall(change.time, of: receiver), receiver: receiver,
                    identity: kind == .enter ? change.identity : nil)))
    }
}
