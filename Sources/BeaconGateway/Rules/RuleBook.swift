import BeaconDelivery
import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring

/// The rules with their state, and what they decide about events of this machine.
///
/// It only decides. The gateway acts on the decisions, and a replay prints them.
struct RuleBook: Sendable {
    /// A decision of a rule.
    struct Decision: Sendable {
        /// The number of the rule in ``RuleBook/active``.
        var index: Int
        var occurrence: RuleOccurrence
        var work: ActiveRule.Work
        /// The event for the rule's program, and the settings of its beacon; nil for an event of the history.
        var line: ProximityEvent?
        var settings: BeaconSettings?
    }

    var active: [ActiveRule] = []
    private var reports = ProximityReports()
    /// The newest second of reports, by the wall clock, and the configured regions and beacons.
    private var second:
        (time: Timestamp, regions: [BeaconNotification.Region], beacons: [BeaconIdentity: BeaconSettings])?
    /// The beacons that rules know from before a checkpoint, and the time until which receivers list them again.
    private var expected: (beacons: Set<BeaconIdentity>, end: Timestamp?)?
    private var ids = EventIDs()
    private var lastNumber = 0

    // MARK: - The rules

    /// Adds a rule without state.
    ///
    /// - Parameter before: the rule before it was changed. Its switch stays, and its past runs if it still has a span.
    mutating func add(_ rule: Rule, after before: ActiveRule? = nil) {
        lastNumber += 1
        var one = ActiveRule(rule)
        one.number = lastNumber
        one.isSwitchedOn = before?.isSwitchedOn
        if let before, rule.span != nil { one.firings = before.firings }
        active.append(one)
    }

    /// Replaces the rules. Unchanged rules keep their state.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - renamed: the renamed regions and places. A rule that only differs by a new name is unchanged.
    /// - Returns: the rules that are no longer there, as they were.
    mutating func update(_ rules: [Rule], renamed: RenamedItems) -> [ActiveRule] {
        var gone = active
        active = []
        for rule in rules {
            if let index = gone.firstIndex(where: { $0.rule == rule }) {
                active.append(gone.remove(at: index))
            } else if let index = gone.firstIndex(where: { $0.rule.renaming(renamed) == rule }) {
                var one = gone.remove(at: index)
                one.rule = rule
                active.append(one)
            } else {
                add(rule, after: gone.first { $0.rule.name == rule.name })
            }
        }
        return gone
    }

    // MARK: - Events of this machine

    /// Returns the decisions for a ranging report, after those for stays of the second before.
    ///
    /// - Parameters:
    ///   - report: the report, by the wall clock.
    ///   - time: the same second by the core's clock.
    ///   - receiver: the receiver.
    ///   - regions: the configured regions.
    ///   - beacons: the named beacons, with their names and fixed places.
    mutating func receive(
        _ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID, regions: [BeaconNotification.Region],
        beacons: [BeaconIdentity: BeaconSettings]
    ) -> [Decision] {
        // So that the result does not depend on how many seconds arrive at once.
        var decisions = time > reports.time ? settle() : []
        second = (report.time, regions, beacons)
        let changes = reports.receive(report, at: time, from: receiver).sorted { $0.beacon < $1.beacon }
        let missing = missing(at: reports.time)
        for index in active.indices {
            for change in missing { _ = active[index].heard.receive(change) }
            for change in active[index].isNew ? reports.standing : changes {
                let names = regions.lazy.filter { $0.constraint.matches(change.beacon) }.map(\.name)
                guard active[index].rule.concerns(change.beacon, of: Set(names)) else { continue }
                let matches = active[index].heard.receive(change)
                decisions += decide(index, matches)
            }
            active[index].isNew = false
        }
        return decisions
    }

    /// Returns the decisions for stays that have become long enough. Call it once all reports of a second have arrived.
    mutating func settle() -> [Decision] {
        var decisions: [Decision] = []
        for index in active.indices {
            let matches = active[index].heard.advance(to: reports.time)
            decisions += decide(index, matches)
        }
        return decisions
    }

    private mutating func decide(_ index: Int, _ matches: [ProximityMatch]) -> [Decision] {
        matches.compactMap { match in
            guard let second, let event = RuleEvent(match.condition),
                var line = reports.event(of: match, at: second.time)
            else { return nil }
            let settings = second.beacons[match.beacon]
            let regions = second.regions.filter { $0.constraint.matches(match.beacon) }
            var notification = BeaconNotification(
                id: ids.next(at: line.time), kind: event == .gone ? .gone : .proximity, time: line.time)
            notification.beacon = match.beacon
            (notification.beaconName, notification.beaconAttributes) = (settings?.name, settings?.attributes ?? [:])
            let title = settings?.name ?? "\(match.beacon.major)/\(match.beacon.minor)"
            notification.summary = "\(title) is \(event)"
            let occurrence = RuleOccurrence(
                event: event, time: line.time, notification: notification, regions: Set(regions.map(\.name)),
                place: settings?.place)
            guard active[index].isEnabled, active[index].rule.concerns(occurrence) else { return nil }
            // For a rule with regions, the event names the first match of them.
            if let names = active[index].rule.regions {
                line.constraint = regions.first { names.contains($0.name) }?.constraint ?? line.constraint
            }
            let work = active[index].decide(occurrence, named: Array(second.beacons.keys), ids: &ids)
            return Decision(index: index, occurrence: occurrence, work: work, line: line, settings: settings)
        }
    }

    /// Returns the decisions for an event of a region or a place, or for a suspicion.
    mutating func receive(_ event: BeaconNotification, in configuration: GatewayConfiguration) -> [Decision] {
        var decisions: [Decision] = []
        for index in active.indices where active[index].isEnabled {
            for occurrence in active[index].occurrences(of: event, in: configuration)
            where active[index].rule.concerns(occurrence) {
                let work = active[index].decide(
                    occurrence, named: configuration.beacons.map(\.identity), ids: &ids)
                decisions.append(Decision(index: index, occurrence: occurrence, work: work))
            }
        }
        return decisions
    }

    // MARK: - Checkpoints

    /// Makes beacons that rules know from before a checkpoint count as gone if no receiver lists them soon.
    mutating func awaitBeacons() { expected = (active.reduce(into: []) { $0.formUnion($1.heard.present) }, nil) }

    private mutating func missing(at time: Timestamp) -> [ProximityChange] {
        guard let expected else { return [] }
        // The time for which ranging lists an unheard beacon.
        let end = expected.end ?? time.advanced(by: Engine.goneAfter)
        guard time >= end else {
            self.expected?.end = end
            return []
        }
        self.expected = nil
        return expected.beacons.subtracting(reports.standing.map(\.beacon)).sorted().map {
            ProximityChange($0, .gone, at: time)
        }
    }
}
