package import BeaconModel

/// A rule's memory of beacons: it turns the reports of each second into the few moments for which the rule's program
/// runs.
///
/// A beacon that is near for an hour is near once. It is so again after it was not for ``patience``, so that one at the
/// border of a class does not run a program again and again. A receiver that gives no reports is deaf, and says neither
/// that a beacon is near nor that it is gone. It is pure: each report comes with its time, by an even clock.
package struct RuleTrigger: Sendable {
    /// The time for which a beacon may be less near without having left, and for which a report holds. A choice: the
    /// classes have a hysteresis of their own, and an outage that is longer is published (`MonitoringCore.patience`).
    package static let patience = 5 * Timestamp.nanosecondsPerSecond

    /// The time for which a receiver that was deaf lists again what it hears, before a beacon that it listed earlier
    /// counts as gone: as long as ranging lists a beacon that is not heard.
    private static let grace = 10 * Timestamp.nanosecondsPerSecond

    /// The most beacons that are known of a list. What is ranged beyond that is not noticed.
    private static let mostBeacons = 10_000

    /// A receiver's list of the beacons of a constraint.
    private struct Place: Hashable {
        var receiver: UInt16
        var constraint: BeaconConstraint?
    }

    private struct List {
        /// The receiver's name. Another receiver may get its number, and does not continue its lists.
        var receiver: String
        var time: Timestamp
        var beacons: [BeaconIdentity: RangedBeacon]
        /// Until when what was listed before a deafness is kept, as unknown.
        var graceEnd = Timestamp.zero
    }

    /// A visit of a beacon at least as near as an event asks for.
    private struct Visit {
        var began: Timestamp
        var seen: Timestamp
        var wasReported = false
    }

    private struct Key: Hashable {
        var identity: BeaconIdentity
        var event: RuleEvent
    }

    private let events: [RuleEvent]
    private let beacons: Set<BeaconIdentity>?
    private var lists: [Place: List] = [:]
    private var visits: [Key: Visit] = [:]

    /// Creates the memory of a rule.
    ///
    /// - Parameters:
    ///   - events: the events of the rule; those of regions and places are passed over.
    ///   - beacons: the beacons that count; nil for all.
    package init(_ events: some Sequence<RuleEvent>, of beacons: Set<BeaconIdentity>? = nil) {
        // In a fixed order, so that the same reports give the same events.
        self.events = Set(events).filter(\.needsRanging).sorted { $0.description < $1.description }
        self.beacons = beacons
    }

    /// Receives the report of a second, in the order of time.
    ///
    /// - Parameters:
    ///   - report: the report. Its own time is only handed on.
    ///   - time: the same second, by a clock that nobody sets.
    ///   - receiver: the receiver, whose name may not be its alone.
    /// - Returns: the moments for which the program is run.
    package mutating func receive(
        _ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID
    ) -> [ProximityEvent] {
        guard !events.isEmpty else { return [] }
        let place = Place(receiver: receiver.index, constraint: report.constraint)
        let before = update(place, from: report, at: time)
        visits = visits.filter { time.since($0.value.seen) < Self.patience }
        var moments: [ProximityEvent] = []
        let now = lists[place]?.beacons ?? [:]
        for identity in Set(now.keys).union(before.keys).sorted() {
            let nearest = lists.values.compactMap { $0.beacons[identity] }.max {
                Self.rank($0.proximity) < Self.rank($1.proximity)
            }
            for event in events {
                switch event {
                case .gone:
                    if nearest == nil, let last = before[identity] { moments.append(moment(event, last, report)) }
                case .proximity(let proximity, for: let duration):
                    guard let nearest, Self.rank(nearest.proximity) >= Self.rank(proximity) else { continue }
                    if isDue(Key(identity: identity, event: event), after: duration, at: time) {
                        moments.append(moment(event, nearest, report))
                    }
                case .enter, .exit, .place, .suspicious: continue
                }
            }
        }
        return moments
    }

    /// Replaces a list, and drops those of receivers that are deaf.
    ///
    /// - Returns: the beacons that the list had.
    private mutating func update(
        _ place: Place, from report: RangingEvent, at time: Timestamp
    ) -> [BeaconIdentity: RangedBeacon] {
        lists = lists.filter { $0.key.receiver != place.receiver || $0.value.receiver == report.receiver }
        var list = List(receiver: report.receiver, time: time, beacons: [:])
        // The nearest first: of two of one identity, that one counts.
        for beacon in report.beacons where beacons?.contains(beacon.identity) ?? true {
            if list.beacons[beacon.identity] == nil, list.beacons.count < Self.mostBeacons {
                list.beacons[beacon.identity] = beacon
            }
        }
        let old = lists[place]
        if let old {
            list.graceEnd =
                time.since(old.time) >= Self.patience ? time.advanced(by: Self.grace) : old.graceEnd
            if time < list.graceEnd {
                for (identity, var beacon) in old.beacons where list.beacons[identity] == nil {
                    beacon.proximity = .unknown
                    list.beacons[identity] = beacon
                }
            }
        }
        lists[place] = list
        // The list of a deaf receiver says nothing of who is near. Its beacons are not gone before it says so, or
        // another one has heard them since.
        for (other, old) in lists where time.since(old.time) >= Self.patience {
            for identity in old.beacons.keys {
                if list.beacons[identity] == nil {
                    lists[other]?.beacons[identity]?.proximity = .unknown
                } else {
                    lists[other]?.beacons[identity] = nil
                }
            }
        }
        return old?.beacons ?? [:]
    }

    /// Notes that a beacon is as near as an event asks for.
    ///
    /// - Returns: true where it has lasted for its time now.
    private mutating func isDue(_ key: Key, after duration: Duration, at time: Timestamp) -> Bool {
        var visit = visits[key] ?? Visit(began: time, seen: time)
        visit.seen = time
        let isDue = !visit.wasReported && .nanoseconds(time.since(visit.began)) >= duration
        if isDue { visit.wasReported = true }
        visits[key] = visit
        return isDue
    }

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
        if case .proximity(let proximity, for: let duration) = event {
            moment.reached = proximity
            moment.duration = duration
            if duration > .zero { moment.name = "stays" }
        } else {
            moment.beacon.proximity = .unknown
            moment.beacon.accuracy = -1
            moment.beacon.rssi = 0
        }
        return moment
    }
}
