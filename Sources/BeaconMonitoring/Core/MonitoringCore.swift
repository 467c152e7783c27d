package import BeaconEngine
package import BeaconModel
package import BeaconRadio

/// The core between sources of adverts and clients: the engine, the conditions and ranging requests of all clients, the
/// rule for outages, the wall clock and the scan mode.
///
/// It does no I/O and reads no clock. The command line, an application's center and beacond are thin layers around it.
///
/// **Silence is not absence.** A receiver either hears or is deaf. A region does not expire while all receivers whose
/// silence would prove anything about it are deaf. After a lasting deafness, the core publishes the region's state as
/// unknown, and keeps the last known state. Once a receiver hears again, the core compares that state with the adverts.
/// A region that was inside and still is causes no new entry; a region that was inside and no longer is causes an exit.
/// A region whose state was never known becomes outside once a receiver has heard nothing of it for the region's exit
/// time-out: its state becomes known, without an exit.
package struct MonitoringCore: ~Copyable {
    /// The hearing of a receiver.
    package enum Hearing: Hashable, Sendable, Codable {
        /// Silence means absence.
        case hearing
        /// No data arrives at present, and it is not known yet whether there is anything to hear. Nothing expires and
        /// nothing is published until that is known. If the receiver then turns out to hear, it was hearing all the
        /// time.
        case doubtful
        /// The receiver is deaf, and this may end soon: an adapter is being reset.
        case interrupted
        /// The receiver is deaf until something changes: the radio is off, removed or not permitted.
        case lost
    }

    /// An interruption that takes longer than this counts as lasting. The value is a choice: long enough for the reset
    /// of an adapter, which clients then don't see, and much shorter than the usual exit time-out.
    package static let patience = 5 * Timestamp.nanosecondsPerSecond

    enum Phase {
        /// The engine's state is the known state.
        case settled
        /// All receivers whose silence would prove anything are deaf: the one that kept the region, or nil for any.
        case deaf(ReceiverID?)
        /// The core compares the last known state with the adverts of the holder, or of any receiver if it is nil.
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
        /// When it began, in nanoseconds; nil until a time is known.
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
    /// The number of changes of conditions. While it stays the same, the states of all conditions do too.
    package private(set) var conditionChanges: UInt64 = 0
    private var conditionsByRegion: [RegionID: ConditionID] = [:]
    private var nearMatches = NearMatches()
    /// The number of conditions of each UUID.
    private var uuids: [ProximityUUID: Int] = [:]

    /// The places in which beacons are located; nil if none are located.
    var places: PlacePlan?
    package var placeNames: [String] = []
    var placeReceivers: [String: Int] = [:]
    var receiverNames: [ReceiverID: String] = [:]

    /// The search for identities that more than one device uses; nil if it is not requested.
    var suspicions: SuspicionDetector?
    var positions: [String: ReceiverPosition] = [:]

    /// The measurements of receivers, by name.
    let calibrations: CalibrationSet

    private var requests: [RangingRequestID: RangingID] = [:]
    private var requestsByRanging: [RangingID: Request] = [:]

    var deafness: [ReceiverID: Deafness] = [:]
    /// The receivers that do not hear.
    package var deafReceivers: [ReceiverID] { Array(deafness.keys) }
    /// The receivers that may or may not hear.
    private var doubts: Set<ReceiverID> = []
    /// Doubtful receivers that turned out to have heard, each with the end of that time; `latest` for one that hears
    /// now. Their adverts are processed first, so that a beacon that they heard does not exit.
    private var resolved: [ReceiverID: Timestamp] = [:]
    private var knownReceivers: Set<ReceiverID> = []
    /// When the next interruption becomes a lasting one, in nanoseconds.
    private var nextPatience: Int64 = .max

    /// The nanoseconds by which the wall clock is ahead of the core's clock: per receiver, and the newest value for
    /// events that no receiver caused.
    private var wallOffsets: [ReceiverID: Int64] = [:]
    private var newestWallOffset: Int64 = 0

    var newest: Int64 = -1
    var events: [MonitoringEvent] = []

    /// The record of the calls and adverts; nil if none is kept.
    package var recording: CoreRecording?

    /// Creates a core that monitors nothing.
    ///
    /// - Parameters:
    ///   - configuration: the engine's settings.
    ///   - calibrations: the measurements of receivers and beacons.
    package init(
        _ configuration: EngineConfiguration = EngineConfiguration(), calibrations: CalibrationSet = CalibrationSet()
    ) {
        var configuration = configuration
        calibrations.apply(to: &configuration)
        engine = Engine(configuration: configuration)
        self.calibrations = calibrations
        if let learned = calibrations.learned {
            engine.useOffsets(receivers: learned.receivers, beacons: learned.beaconOffsets)
        }
    }

    // MARK: - Requests

    /// Starts to monitor a region.
    ///
    /// - Parameters:
    ///   - region: the region, with its rules.
    ///   - state: its known state, for example from an earlier run.
    ///   - holder: the receiver that kept the region if it was inside, and whose silence alone decides; nil if unknown.
    ///   - owner: the name of its owner in the recording.
    package mutating func startMonitoring(
        _ region: MonitoredRegion, assuming state: RegionState = .unknown, heldBy holder: ReceiverID? = nil,
        owner: String = ""
    ) -> ConditionID {
        nextNumber += 1
        let id = ConditionID(number: nextNumber)
        recording?.note(.monitor(id, region, assuming: state, heldBy: holder, owner: owner))
        let engineID = engine.startMonitoring(region, assuming: state, heldBy: holder)
        conditions[id] = Condition(region: region, engineID: engineID, known: state, published: state)
        conditionsByRegion[engineID] = id
        uuids[region.constraint.uuid, default: 0] += 1
        if state != .inside { nearMatches.wait(for: region.constraint, at: max(newest, 0)) }
        if !deafness.isEmpty { review(id) }
        return id
    }

    /// Stops monitoring a region. Harmless if it is not monitored.
    package mutating func stopMonitoring(_ id: ConditionID) {
        recording?.note(.forget(id))
        drain()
        guard let condition = conditions.removeValue(forKey: id) else { return }
        engine.stopMonitoring(condition.engineID)
        conditionsByRegion[condition.engineID] = nil
        nearMatches.end(condition.region.constraint)
        let uuid = condition.region.constraint.uuid
        uuids[uuid, default: 1] -= 1
        if uuids[uuid] == 0 { uuids[uuid] = nil }
    }

    /// Returns the last known state, which is the state to store.
    package func knownState(of id: ConditionID) -> RegionState { conditions[id]?.known ?? .unknown }

    /// Returns the receiver whose silence alone decides about a region that is inside; nil if any receiver's does.
    package func holder(of id: ConditionID) -> ReceiverID? {
        guard let condition = conditions[id], condition.known == .inside else { return nil }
        switch condition.phase {
        case .settled: return engine.holder(of: condition.engineID)
        case .deaf(let holder), .comparing(let holder): return holder
        }
    }

    /// Returns the explanation of a region's state; nil if it is not monitored.
    package func explanation(of id: ConditionID) -> RegionExplanation? {
        conditions[id].flatMap { engine.explanation(of: $0.engineID) }
    }

    /// Returns the state as clients know it: unknown while all receivers that could determine it are deaf.
    package func publishedState(of id: ConditionID) -> RegionState { conditions[id]?.published ?? .unknown }

    /// Returns the inputs of the decision about a beacon's place; nil if it is not located.
    package func placeExplanation(of beacon: BeaconIdentity) -> PlaceExplanation? {
        engine.placeExplanation(of: beacon)
    }

    /// Starts to report beacons at each whole second.
    ///
    /// - Parameter constraint: the beacons; nil for all.
    package mutating func startRanging(_ constraint: BeaconConstraint?) -> RangingRequestID {
        nextNumber += 1
        let id = RangingRequestID(number: nextNumber)
        recording?.note(.range(id, constraint))
        let ranging = engine.startRanging(constraint)
        requests[id] = ranging
        requestsByRanging[ranging] = Request(id: id, constraint: constraint)
        nearMatches.wait(for: constraint, at: max(newest, 0))
        return id
    }

    /// Stops the reports of a request. Harmless if it has ended already.
    package mutating func stopRanging(_ id: RangingRequestID) {
        recording?.note(.stopRanging(id))
        drain()
        guard let ranging = requests.removeValue(forKey: id) else { return }
        engine.stopRanging(ranging)
        nearMatches.end(requestsByRanging.removeValue(forKey: ranging)?.constraint)
    }

    /// The scan mode that the requests need.
    package var scanMode: ScanMode {
        if !requests.isEmpty || places != nil || suspicions != nil { return .ranging }
        return uuids.isEmpty ? .off : .monitoring(Set(uuids.keys))
    }

    // MARK: - Receivers

    /// Adds a receiver, so that it has its own reports even while it hears no beacon.
    package mutating func addReceiver(_ receiver: ReceiverID) {
        guard knownReceivers.insert(receiver).inserted else { return }
        recording?.note(.add(receiver))
        engine.addReceiver(receiver)
    }

    /// Sets the hearing of a receiver. Receivers hear by default.
    ///
    /// - Parameters:
    ///   - hearing: the hearing.
    ///   - receiver: the receiver.
    ///   - time: since when; nil for the newest time.
    package mutating func setHearing(_ hearing: Hearing, of receiver: ReceiverID, at time: Timestamp? = nil) {
        addReceiver(receiver)
        // Sources repeat this with each message. Where it changes nothing, it would only fill the recording.
        if hearing == .hearing, deafness[receiver] == nil, !doubts.contains(receiver) { return }
        recording?.note(.hear(receiver, hearing, at: time))
        let time = time ?? Timestamp(nanoseconds: max(newest, 0))
        switch hearing {
        case .doubtful:
            if resolved[receiver] == .latest { resolved[receiver] = time }
            guard deafness[receiver] == nil, doubts.insert(receiver).inserted else { return }
            engine.setHearing(false, of: receiver, at: time, isDoubt: true)
            return drain()
        case .hearing where doubts.contains(receiver) && deafness[receiver] == nil:
            resolved[receiver] = .latest
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
        resolved[receiver] = nil
        engine.setHearing(hearing == .hearing, of: receiver, at: time)
        if newest >= 0 { newest = max(newest, time.nanoseconds) }
        drain()
        updatePatience()
        reviewAll()
    }

    /// Whether a receiver hears, as far as clients see it; nil during an interruption that may be short.
    package func hears(_ receiver: ReceiverID) -> Bool? {
        guard let deafness = deafness[receiver] else { return true }
        return deafness.isLasting ? false : nil
    }

    /// Notes that a receiver in doubt heard until a time, once its adverts up to then are processed.
    package mutating func confirmHearing(of receiver: ReceiverID, until time: Timestamp) {
        let isNested = beginCall(.confirm(receiver, until: time))
        defer { recording?.isNested = isNested }
        if let since = deafness[receiver]?.since, since < time.nanoseconds {
            // It was deaf, has heard since, and is in doubt again.
            setHearing(.hearing, of: receiver)
            setHearing(.doubtful, of: receiver)
        }
        guard doubts.contains(receiver) else { return }
        resolved[receiver] = max(time, resolved[receiver] ?? time)
    }

    /// Sets whether a receiver's signal strengths are smoothed and thinned. They count for presence and places, but
    /// they do not allow a distance each second, so the receiver has no ranging reports.
    package mutating func setSmoothed(_ isSmoothed: Bool, of receiver: ReceiverID) {
        recording?.note(.smooth(receiver, isSmoothed))
        engine.setRanging(!isSmoothed, of: receiver)
    }

    /// Records a period of deafness that was discovered afterwards: a suspend, or a stopped process. Call it before
    /// time advances to the end of that period.
    ///
    /// - Parameters:
    ///   - from: when the receiver ceased to hear.
    ///   - to: when it heard again.
    ///   - receiver: the receiver.
    package mutating func skip(from: Timestamp, to: Timestamp, of receiver: ReceiverID) {
        addReceiver(receiver)
        recording?.note(.skip(receiver, from: from, to: to))
        if doubts.remove(receiver) != nil {
            // It is now known that it was deaf, and the whole time until it hears again counts.
            resolved[receiver] = nil
            deafness[receiver] = Deafness(since: newest < 0 ? nil : newest, isLasting: false)
            engine.setHearing(false, of: receiver, at: Timestamp(nanoseconds: max(newest, 0)))
            updatePatience()
        }
        engine.skip(from: from, to: to, of: receiver)
        if to.since(from) >= Self.patience { engine.resetRanging(of: receiver) }
        drain()
    }

    /// Sets how far the wall clock is ahead of the core's times for a receiver's adverts; negative if it is behind.
    ///
    /// For a radio, it is the difference that a step of the wall clock made. For a file or a simulation that is played
    /// on the core's clock, it is the difference to its own times.
    package mutating func setWallOffset(_ nanoseconds: Int64, of receiver: ReceiverID) {
        recording?.note(.wallOffset(receiver, nanoseconds))
        wallOffsets[receiver] = nanoseconds
        newestWallOffset = nanoseconds
    }

    /// Notes a call that makes others, which are not noted, and returns whether another call makes this one.
    private mutating func beginCall(_ input: CoreInput) -> Bool {
        recording?.note(input)
        defer { recording?.isNested = true }
        return recording?.isNested ?? false
    }

    /// Converts a time to the wall clock, for an event that a receiver caused, or nil if no receiver did.
    func wall(_ time: Timestamp, of receiver: ReceiverID?) -> Timestamp {
        let offset = receiver.flatMap { wallOffsets[$0] } ?? newestWallOffset
        return offset == 0 ? time : time.advanced(by: offset)
    }

    /// The newest time by the wall clock, in seconds.
    package var wallTime: Double { wall(Timestamp(nanoseconds: max(newest, 0)), of: nil).seconds }

    /// Returns the time of a sighting by the wall clock.
    package func wallTime(of sighting: Sighting) -> Timestamp { wall(sighting.time, of: sighting.receiver) }

    // MARK: - Input

    /// The newest time; nil before the first.
    package var time: Timestamp? { newest < 0 ? nil : Timestamp(nanoseconds: newest) }

    /// Processes a sighting after everything that was due before it.
    @inline(__always)
    package mutating func receive(_ sighting: Sighting) {
        if recording != nil { note(sighting) }
        if sighting.time.nanoseconds > newest { note(sighting.time.nanoseconds) }
        engine.receive(sighting)
        nearMatches.note(sighting.identity, at: sighting.time.nanoseconds)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(sighting) }
    }

    @inline(never)
    private mutating func note(_ sighting: Sighting) {
        let time = sighting.time.nanoseconds
        recording?.note(sighting, isTimeNews: time > newest && (newest < 0 || time >= nextPatience))
    }

    /// Processes an advert that no client asks for.
    package mutating func pass(_ time: Timestamp) {
        if time.nanoseconds > newest { note(time.nanoseconds) }
        engine.advance(upTo: time)
        if engine.hasEvents { drain() }
    }

    /// Processes sightings in order, like ``receive(_:)`` but faster.
    package mutating func receive(_ sightings: [Sighting]) {
        var place = 0
        while place < sightings.count {
            let end = min(place + Engine.maximumExpected, sightings.count)
            if end - place > 1 { engine.expect(sightings.span.extracting(place..<end)) }
            while place < end {
                receive(sightings[place])
                place += 1
            }
        }
    }

    /// Advances the time up to and including `time`.
    package mutating func advance(to time: Timestamp) {
        recording?.note(time, isIncluded: true, isTimeNews: !resolved.isEmpty)
        if !resolved.isEmpty { endDoubts(at: time) }
        note(time.nanoseconds)
        engine.advance(to: time)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(at: time) }
    }

    /// Advances the time up to but excluding `time`: events that are due exactly then wait.
    @inline(__always)
    package mutating func advance(upTo time: Timestamp) {
        recording?.note(time, isIncluded: false, isTimeNews: !resolved.isEmpty)
        if !resolved.isEmpty { endDoubts(at: time) }
        if time.nanoseconds > newest { note(time.nanoseconds) }
        engine.advance(upTo: time)
        if engine.hasEvents { drain() }
        if suspicions != nil { suspect(at: time) }
    }

    /// Ends the doubt about receivers that turned out to have heard, or the part of it until they last did. Everything
    /// that was due in that time happens now.
    @inline(never)
    private mutating func endDoubts(at present: Timestamp) {
        let time = Timestamp(nanoseconds: max(newest, 0))
        for (receiver, until) in resolved.sorted(by: { $0.key.index < $1.key.index }) {
            if until == .latest {
                doubts.remove(receiver)
                engine.setHearing(true, of: receiver, at: time, wasHearing: true)
            } else {
                engine.confirmHearing(of: receiver, until: min(until, present))
            }
        }
        resolved = [:]
        drain()
    }

    /// Removes and returns the events since the last call, in order.
    package mutating func drainEvents() -> [MonitoringEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    /// The notices of near matches that still hold: no beacon of the constraint was heard since.
    package var nearMatchNotices: [RadioNotice] { nearMatches.notices }

    /// A Boolean value indicating whether ``drainEvents()`` would return any event.
    package var hasEvents: Bool { !events.isEmpty }

    /// Sets the newest time, if `time` is newer.
    @inline(__always)
    private mutating func note(_ time: Int64) {
        let isFirst = newest < 0
        newest = max(newest, time)
        if isFirst { nearMatches.begin(at: time) }
        if isFirst || newest >= nextPatience { reviewPatience(isFirst: isFirst) }
        if newest >= nearMatches.due { reviewNearMatches() }
    }

    @inline(never)
    private mutating func reviewNearMatches() {
        let constraints = conditions.values.map(\.region.constraint) + requestsByRanging.values.compactMap(\.constraint)
        events += nearMatches.review(at: newest, among: constraints).map { .notice($0) }
    }

    // MARK: - Events

    /// Handles the engine's events.
    @inline(never)
    private mutating func drain() {
        for event in engine.drainEvents() {
            switch event {
            case .entered(let change): settle(change, as: .inside)
            case .exited(let change), .determined(let change): settle(change, as: .outside)
            case .located(let time, let beacons): events.append(.located(self.event(of: beacons, at: time)))
            case .placed(let change): events.append(.placed(self.event(of: change)))
            case .uncalibrated(let beacon):
                let receiver = receiverNames[beacon.receiver] ?? "receiver \(beacon.receiver.index)"
                events.append(.notice(RadioNotice(beacon, by: receiver)))
            case .ranged(let report):
                guard let request = requestsByRanging[report.ranging] else { continue }
                if !report.beacons.isEmpty { nearMatches.end(request.constraint) }
                events.append(
                    .ranged(
                        RangingRequestReport(
                            request: request.id, constraint: request.constraint, time: report.time,
                            wallTime: wall(report.time, of: report.receiver), receiver: report.receiver,
                            beacons: report.beacons)))
            }
        }
    }

    /// Sets the state of a condition that is known, or known again.
    private mutating func settle(_ change: RegionChange, as state: RegionState) {
        guard let id = conditionsByRegion[change.region], let condition = conditions[id] else { return }
        let before = condition.known
        conditions[id]?.known = state
        conditions[id]?.published = state
        // After an outage, the silence of the receiver that kept the region decides.
        var receiver = change.receiver
        switch condition.phase {
        case .settled: break
        case .deaf(let holder), .comparing(let holder):
            receiver = receiver ?? holder
            replace(id, by: condition.region, assuming: state, heldBy: change.receiver, phase: .settled)
        }
        // A region whose state is the same as before the outage has neither an entry nor an exit.
        let kind: RegionEvent.Kind =
            switch (before, state) {
            case (.inside, .inside), (_, .unknown): .state
            case (_, .inside): .enter
            case (.inside, .outside): .exit
            case (_, .outside): .state
            }
        if state == .inside { nearMatches.end(condition.region.constraint) }
        if kind == .exit { nearMatches.wait(for: condition.region.constraint, at: newest) }
        events.append(
            .state(
                ConditionChange(
                    condition: id, kind: kind, state: state, before: before, time: change.time,
                    wallTime: wall(change.time, of: receiver), receiver: receiver,
                    identity: kind == .enter ? change.identity : nil)))
    }
}

// Silence is not absence: how conditions change when all receivers are deaf, and when one hears again.
extension MonitoringCore {
    /// Restarts the time-out of regions that are inside. Their receivers may have heard the beacons, but the adverts
    /// were lost on the way.
    ///
    /// - Parameter isConcerned: returns true for a receiver that lost adverts.
    package mutating func renew(heldBy isConcerned: (ReceiverID) -> Bool) {
        drain()
        for id in conditions.keys.sorted() where publishedState(of: id) == .inside {
            if let holder = holder(of: id), isConcerned(holder) { renew(id, heldBy: holder) }
        }
    }

    /// Restarts the time-out of a region that is inside.
    ///
    /// - Parameter holder: the receiver that keeps it from now on.
    package mutating func renew(_ id: ConditionID, heldBy holder: ReceiverID) {
        drain()
        guard let condition = conditions[id], condition.known == .inside else { return }
        replace(id, by: condition.region, assuming: .inside, heldBy: holder, phase: .settled)
        if !deafness.isEmpty { review(id) }
    }

    @inline(never)
    private mutating func reviewPatience(isFirst: Bool) {
        if isFirst {
            for receiver in deafness.keys where deafness[receiver]?.since == nil {
                deafness[receiver]?.since = newest
            }
        }
        let due = deafness.filter { !$0.value.isLasting && newest - ($0.value.since ?? newest) >= Self.patience }
        guard !due.isEmpty || isFirst else { return updatePatience() }
        // Everything that was due earlier happens first.
        if !isFirst { engine.advance(upTo: Timestamp(nanoseconds: newest)) }
        drain()
        for receiver in due.keys { deafness[receiver]?.isLasting = true }
        updatePatience()
        if !due.isEmpty { reviewAll() }
    }

    private mutating func updatePatience() {
        nextPatience =
            deafness.values.filter { !$0.isLasting }.compactMap(\.since).min().map { $0 + Self.patience } ?? .max
    }

    private func isDeaf(_ holder: ReceiverID?) -> Bool {
        guard let holder else { return !deafness.isEmpty && deafness.count == knownReceivers.count }
        return deafness[holder] != nil
    }

    private func isLastinglyDeaf(_ holder: ReceiverID?) -> Bool {
        guard let holder else { return isDeaf(nil) && deafness.values.allSatisfy(\.isLasting) }
        return deafness[holder]?.isLasting == true
    }

    /// Reviews all conditions after a change of hearing, in the order in which they were added.
    private mutating func reviewAll() {
        for id in conditions.keys.sorted() { review(id) }
    }

    private mutating func review(_ id: ConditionID) {
        guard let condition = conditions[id] else { return }
        switch condition.phase {
        case .settled:
            let holder = engine.holder(of: condition.engineID)
            if condition.known != .unknown, isLastinglyDeaf(holder) { beginOutage(of: id, holder: holder) }
        case .deaf(let holder):
            if !isDeaf(holder) { beginComparison(of: id, holder: holder) }
        case .comparing(let holder):
            if isDeaf(holder) { waitForBeacon(of: id, holder: holder) }
        }
    }

    /// Publishes a region as unknown, since all receivers whose silence would prove anything about it are deaf.
    private mutating func beginOutage(of id: ConditionID, holder: ReceiverID?) {
        waitForBeacon(of: id, holder: holder)
        guard let condition = conditions[id], condition.published != .unknown else { return }
        conditions[id]?.published = .unknown
        let time = Timestamp(nanoseconds: max(newest, 0))
        events.append(
            .state(
                ConditionChange(
                    condition: id, kind: .state, state: .unknown, before: condition.known, time: time,
                    wallTime: wall(time, of: holder), receiver: nil, identity: nil)))
    }

    /// Waits for a beacon of a region without a limit: silence proves nothing.
    private mutating func waitForBeacon(of id: ConditionID, holder: ReceiverID?) {
        guard var region = conditions[id]?.region else { return }
        region.ignoresSilence = true
        replace(id, by: comparable(region, of: id), assuming: .unknown, phase: .deaf(holder))
    }

    /// Waits the usual time for a beacon of a region, since a receiver hears again.
    private mutating func beginComparison(of id: ConditionID, holder: ReceiverID?) {
        guard let region = conditions[id]?.region else { return }
        replace(id, by: comparable(region, of: id), assuming: .unknown, heldBy: holder, phase: .comparing(holder))
    }

    /// Returns a region for the comparison. A region that was inside uses its thresholds for staying inside, not those
    /// for entering.
    private func comparable(_ region: MonitoredRegion, of id: ConditionID) -> MonitoredRegion {
        var region = region
        if conditions[id]?.known == .inside {
            region.minimumRSSI = region.exitRSSI
            region.entersAsKept = true
        }
        return region
    }

    mutating func replace(
        _ id: ConditionID, by region: MonitoredRegion, assuming state: RegionState, heldBy holder: ReceiverID? = nil,
        phase: Phase
    ) {
        guard let old = conditions[id]?.engineID else { return }
        engine.stopMonitoring(old)
        conditionsByRegion[old] = nil
        let new = engine.startMonitoring(region, assuming: state, heldBy: holder)
        conditionsByRegion[new] = id
        conditions[id]?.engineID = new
        conditions[id]?.phase = phase
    }
}

extension MonitoringCore {
    /// Starts the search for identities that more than one device uses, or changes the beacons that it covers.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - constraints: the beacons.
    ///   - positions: where receivers are, by their names.
    package mutating func startSuspecting(
        _ rules: SuspicionRules, of constraints: [BeaconConstraint], positions: [String: ReceiverPosition]
    ) {
        let isNested = beginCall(.suspect(rules, constraints, positions))
        defer { recording?.isNested = isNested }
        if suspicions?.rules == rules {
            suspicions?.setConstraints(constraints)
        } else {
            suspicions = SuspicionDetector(rules, of: constraints, calibrations: calibrations.beaconCalibrations)
        }
        setPositions(positions)
    }

    /// Stops the search. Harmless if it is not running.
    package mutating func stopSuspecting() {
        recording?.note(.stopSuspecting)
        suspicions = nil
        positions = [:]
    }

    /// Sets the positions of receivers, by name. Receivers without a position are not compared by distance.
    package mutating func setPositions(_ positions: [String: ReceiverPosition]) {
        recording?.note(.position(positions))
        self.positions = positions
        for (receiver, name) in receiverNames { locate(receiver, named: name) }
    }

    /// The number of suspicions that were omitted because there were too many.
    package var omittedSuspicions: OmittedSuspicions {
        OmittedSuspicions(findings: suspicions?.omittedFindings ?? 0, adverts: suspicions?.ignoredAdverts ?? 0)
    }

    mutating func locate(_ receiver: ReceiverID, named name: String) {
        let offset = calibrations.receivers.isEmpty ? nil : calibrations.calibration(of: name)?.offset
        suspicions?.setReceiver(receiver, at: positions[name], offset: offset ?? 0)
    }

    @inline(never)
    private mutating func suspect(_ sighting: Sighting) {
        suspicions?.receive(sighting)
        if suspicions?.hasFindings == true { drainSuspicions() }
    }

    private mutating func suspect(at time: Timestamp) {
        suspicions?.advance(to: time)
        if suspicions?.hasFindings == true { drainSuspicions() }
    }

    private mutating func drainSuspicions() {
        for finding in suspicions?.takeFindings() ?? [] {
            let sides = [finding.first, finding.second]
            events.append(
                .suspected(
                    SuspicionEvent(
                        time: wall(finding.time, of: finding.second.receiver), identity: finding.identity,
                        grounds: SuspicionEvidence(
                            reason: finding.reason,
                            receivers: sides.map { receiverNames[$0.receiver] ?? "receiver \($0.receiver.index)" },
                            addresses: sides.map { "\($0.address)" }, distance: finding.distance,
                            seconds: finding.seconds, speed: finding.speed))))
        }
    }
}

/// The number of suspicions that were omitted because there were too many. Its description is for the log.
package struct OmittedSuspicions: CustomStringConvertible {
    /// The suspicions that were not reported.
    package var findings: Int
    /// The adverts of identities that were not tracked.
    package var adverts: Int

    /// The sum of both.
    package var count: Int { findings + adverts }

    /// A sentence for the log.
    package var description: String {
        "a sender may be inventing beacons: \(findings) suspicions were omitted because there were more than \(SuspicionDetector.maximumFindings) in an hour, and \(adverts) adverts of identities beyond \(SuspicionDetector.maximumIdentities)"
    }
}

extension MonitoringCore {
    /// Assigns the number of a removed receiver to a new one. The new receiver starts without the adverts of the old
    /// one, and hears once ``setHearing(_:of:at:)`` is called.
    ///
    /// The other receivers decide about the regions that the old one kept, as after an outage of all: a beacon has left
    /// if none of them hears it within the exit time-out.
    package mutating func reassign(_ receiver: ReceiverID, to name: String) {
        let isNested = beginCall(.reassign(receiver, name))
        defer { recording?.isNested = isNested }
        release(receiver)
        setSmoothed(false, of: receiver)
        receiverNames[receiver] = nil
        self.name(receiver, name)
    }

    /// Removes a receiver for good; its number is not reused. The other receivers decide about the regions that it
    /// kept.
    package mutating func retire(_ receiver: ReceiverID) {
        let isNested = beginCall(.retire(receiver))
        defer { recording?.isNested = isNested }
        release(receiver)
        setHearing(.lost, of: receiver)
    }

    /// Discards a receiver's adverts, and lets the other receivers decide about the regions that it kept.
    private mutating func release(_ receiver: ReceiverID) {
        setHearing(.interrupted, of: receiver)
        for id in conditions.keys.sorted() where isHeld(id, by: receiver) {
            waitForBeacon(of: id, holder: nil)
            review(id)
        }
        engine.forgetHearing(of: receiver)
    }

    private func isHeld(_ id: ConditionID, by receiver: ReceiverID) -> Bool {
        guard let condition = conditions[id] else { return false }
        switch condition.phase {
        case .settled: return engine.holder(of: condition.engineID) == receiver && condition.region.receiver != receiver
        case .deaf(let holder), .comparing(let holder): return holder == receiver
        }
    }
}
