package import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// A rule that runs in a playback, or that its span or its schedule withholds.
package struct ReplayedRun: Sendable {
    package var time: Timestamp
    package var rule: String
    /// The event in the grammar of rules.
    package var cause: String
    package var summary: String
    /// The region that was entered or left.
    package var region: BeaconNotification.Region?
    package var beacon: BeaconIdentity?
    package var place: String?
    /// The person that the rule runs for, as a span counts.
    package var person: String
    /// The reason why it is withheld; nil if it runs.
    package var reason: String?
}

/// An event of a playback.
package enum ReplayedEvent: Sendable {
    case event(BeaconEvent)
    case run(ReplayedRun)

    /// The event; nil for a run of a rule.
    package var event: BeaconEvent? { if case .event(let event) = self { event } else { nil } }
    /// The run of a rule; nil for other events.
    package var run: ReplayedRun? { if case .run(let run) = self { run } else { nil } }

    /// The time in seconds since 1970.
    package var seconds: Double {
        switch self {
        case .event(let event): event.seconds
        case .run(let run): run.time.seconds
        }
    }

    /// An event in the form of `beacon monitor --json`, and a run of a rule with `"event": "rule"`.
    package var json: JSONValue? {
        switch self {
        case .event(let event): event.json
        case .run(let run): run.json
        }
    }
}

extension ReplayedRun {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "event": .string("rule"), "time": .number((time.seconds * 1000).rounded() / 1000), "rule": .string(rule),
            "cause": .string(cause), "summary": .string(summary),
            "outcome": .string(reason == nil ? "done" : "withheld"),
        ]
        if let reason { members["reason"] = .string(reason) }
        if let region { members["region"] = .object(["name": .string(region.name)]) }
        if let place { members["place"] = .string(place) }
        if let beacon {
            members["beacon"] = .object([
                "uuid": .string("\(beacon.uuid)"), "major": .number(Double(beacon.major)),
                "minor": .number(Double(beacon.minor)),
            ])
        }
        return .object(members)
    }
}

/// The rules in a playback. They decide as in the gateway, and nothing is started or sent.
struct RuleReplay {
    private let changes: ReplayChanges
    private var book = RuleBook()
    /// The names of all rules that were recorded.
    private(set) var names: Set<String> = []
    private var configuration = GatewayConfiguration(outbox: OutboxSettings(path: ""))
    private var ranged: Set<BeaconConstraint> = []
    private var policy = NotificationPolicy(rules: NotificationRules(), regions: [])

    init(_ changes: ReplayChanges) { self.changes = changes }

    /// Switches to recorded rules. Those with a number from before keep their state, unless the recording has it.
    mutating func use(_ recorded: RecordedRules) {
        configuration.regions = recorded.regions.map {
            RegionSettings(name: $0.name, region: MonitoredRegion($0.constraint))
        }
        configuration.beacons = recorded.beacons.map {
            BeaconSettings(name: $0.name, identity: $0.identity, place: $0.place)
        }
        ranged = Set(recorded.ranged)
        policy = NotificationPolicy(rules: NotificationRules(), regions: configuration.notifiedRegions)
        names.formUnion(recorded.rules.map(\.rule.name))
        let before = book.active
        book.active = []
        var hasState = false
        for entry in recorded.rules {
            let rule = changes.applied(to: entry.rule)
            if entry.state == nil, var same = before.first(where: { $0.number == entry.number }) {
                same.rule = rule
                book.active.append(same)
                continue
            }
            book.add(rule, after: before.first { $0.rule.name == entry.name })
            let index = book.active.count - 1
            book.active[index].number = entry.number
            guard let state = entry.state else { continue }
            hasState = true
            book.active[index].heard = state.heard
            book.active[index].isNew = state.isNew
            book.active[index].firings = state.firings
            book.active[index].here = ActiveRule.Side(
                seen: state.seen ?? RuleSightings(), held: state.held ?? [])
        }
        if hasState { book.awaitBeacons() }
    }

    /// Returns the runs that a report of ranging causes.
    ///
    /// - Parameter receiver: the receiver's name.
    mutating func receive(_ report: RangingRequestReport, from receiver: String) -> [ReplayedRun] {
        // Others are for clients, such as the console.
        guard let constraint = report.constraint, ranged.contains(constraint) else { return [] }
        let event = RangingEvent(
            time: report.wallTime, receiver: receiver, constraint: constraint, beacons: report.beacons)
        return runs(
            book.receive(
                event, at: report.time, from: report.receiver, regions: configuration.notifiedRegions,
                beacons: configuration.beaconsByIdentity))
    }

    /// Returns the runs for stays that have become long enough.
    mutating func settle() -> [ReplayedRun] { runs(book.settle()) }

    /// Returns the runs that an event of a region or a place, or a suspicion causes.
    mutating func receive(_ event: BeaconEvent) -> [ReplayedRun] {
        guard !book.active.isEmpty, let time = Timestamp(seconds: event.seconds),
            var notification = policy.notification(of: event, at: time)
        else { return [] }
        notification.beaconName = notification.beacon.flatMap { configuration.beaconNames[$0] }
        notification.summary = notification.summarized()
        return runs(book.receive(notification, in: configuration))
    }

    private func runs(_ decisions: [RuleBook.Decision]) -> [ReplayedRun] {
        decisions.filter { $0.work.ran || $0.work.reason != nil }.map { decision in
            let (occurrence, rule) = (decision.occurrence, book.active[decision.index].rule)
            let isOfBeacon = occurrence.event.isOfBeacon
            return ReplayedRun(
                time: occurrence.time, rule: rule.name, cause: "\(occurrence.event)",
                summary: occurrence.notification.summary, region: isOfBeacon ? nil : occurrence.notification.region,
                beacon: occurrence.notification.beacon, place: occurrence.place, person: occurrence.person,
                reason: decision.work.reason)
        }
    }
}
