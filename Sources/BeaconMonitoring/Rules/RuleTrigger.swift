package import BeaconModel

/// A rule's memory of beacons: it turns the reports of each second into the few moments for which the rule's program runs.
///
/// A beacon that is near for an hour is near once. It is so again after it was not for ``patience``, so that one at the
/// border of a class does not run a program again and again. It is pure: the reports have the time.
package struct RuleTrigger: Sendable {
    /// The time for which a beacon may be less near without having left. A choice: the classes have a hysteresis of
    /// their own, and readings are heard for 5 s.
    package static let patience = 5 * Timestamp.nanosecondsPerSecond

    /// The most beacons that are known at a time. What is ranged beyond that is not noticed.
    private static let mostBeacons = 10_000

    /// A receiver's list of the beacons of a constraint.
    private struct Place: Hashable {
        var receiver: String
        var constraint: BeaconConstraint?
    }

    /// A visit of a beacon at least as near as an event asks for.
    private struct Visit {
        var began: Timestamp
        /// When it was less near for the first time since; nil while it is as near.
        var interrupted: Timestamp?
        var wasReported = false
    }

    private struct Key: Hashable {
        var identity: BeaconIdentity
        var event: RuleEvent
    }

    private let events: [RuleEvent]
    private let beacons: Set<BeaconIdentity>?
    private var lists: [Place: [BeaconIdentity: RangedBeacon]] = [:]
    private var visits: [Key: Visit] = [:]

    /// Creates the memory of a rule.
    ///
    /// - Parameters:
    ///   - events: the events of the rule; those of regions are passed over.
    ///   - beacons: the beacons that count; nil for all.
    package init(_ events: some Sequence<RuleEvent>, of beacons: Set<BeaconIdentity>? = nil) {
        // In a fixed order, so that the same reports give the same events.
        self.events = events.filter(\.needsRanging).sorted { $0.description < $1.description }
        self.beacons = beacons
    }

    /// Receives the report of a second, in the order of time.
    ///
    /// - Returns: the moments for which the program is run.
    package mutating func receive(_ report: RangingEvent) -> [ProximityEvent] {
        guard !events.isEmpty else { return [] }
        let place = Place(receiver: report.receiver, constraint: report.constraint)
        let before = lists[place] ?? [:]
        var list: [BeaconIdentity: RangedBeacon] = [:]
        // The nearest first: of two of one identity, that one counts.
        for beacon in report.beacons where beacons?.contains(beacon.identity) ?? true {
            if list[beacon.identity] == nil, list.count < Self.mostBeacons { list[beacon.identity] = beacon }
        }
        lists[place] = list.isEmpty ? nil : list
        var moments: [ProximityEvent] = []
        // What was waited for by one who is not listed any more ends too.
        let known = Set(list.keys).union(before.keys)
            .union(visits.filter { $0.value.interrupted != nil }.keys.map(\.identity))
        for identity in known.sorted() {
            let nearest = lists.values.compactMap { $0[identity] }.max { Self.rank($0) < Self.rank($1) }
            for event in events {
                switch event {
                case .gone:
                    guard nearest == nil, let last = before[identity] else { continue }
                    moments.append(moment(event, last, report))
                case .proximity(let proximity, for: let time):
                    let isThere = nearest.map { Self.rank($0) >= Self.rank(proximity) } ?? false
                    guard update(Key(identity: identity, event: event), isThere, time, at: report.time),
                        let nearest
                    else { continue }
                    moments.append(moment(event, nearest, report))
                case .enter, .exit: continue
                }
            }
        }
        return moments
    }

    /// Updates a beacon's visit.
    ///
    /// - Returns: true where it has lasted for its time now.
    private mutating func update(_ key: Key, _ isThere: Bool, _ duration: Duration, at now: Timestamp) -> Bool {
        guard var visit = visits[key] else {
            guard isThere else { return false }
            visits[key] = Visit(began: now)
            return update(key, isThere, duration, at: now)
        }
        if let interrupted = visit.interrupted, now.since(interrupted) >= Self.patience {
            visits[key] = nil
            return isThere && update(key, isThere, duration, at: now)
        }
        visit.interrupted = isThere ? nil : visit.interrupted ?? now
        let isDue = isThere && !visit.wasReported && .nanoseconds(now.since(visit.began)) >= duration
        if isDue { visit.wasReported = true }
        visits[key] = visit
        return isDue
    }

    private static func rank(_ beacon: RangedBeacon) -> Int { rank(beacon.proximity) }

    private static func rank(_ proximity: Proximity) -> Int {
        switch proximity {
        case .unknown: 0
        case .far: 1
        case .near: 2
        case .immediate: 3
        }
    }

    private func moment(_ event: RuleEvent, _ beacon: RangedBeacon, _ report: RangingEvent) -> ProximityEvent {
        var moment = ProximityEvent(
            time: report.time, receiver: report.receiver, name: event == .gone ? "gone" : "proximity", beacon: beacon,
            constraint: report.constraint)
        if case .proximity(let proximity, for: let time) = event {
            moment.reached = proximity
            moment.duration = time
            if time > .zero { moment.name = "stays" }
        } else {
            moment.beacon.proximity = .unknown
            moment.beacon.accuracy = -1
            moment.beacon.rssi = 0
        }
        return moment
    }
}
