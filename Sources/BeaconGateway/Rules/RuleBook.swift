import BeaconDelivery
import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import Foundation

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

        init(_ index: Int, _ decision: RuleDecision) {
            (self.index, occurrence, work) = (index, decision.occurrence, decision.work)
        }
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
    /// - Parameter before: the rule before it was changed. Its switch and its runner stay. Its past runs stay if it
    ///   has a span, its waiting runs if it waits, and its sightings if its conditions on other beacons are the same.
    mutating func add(_ rule: Rule, after before: ActiveRule? = nil) {
        lastNumber += 1
        var one = ActiveRule(rule)
        one.number = lastNumber
        (one.isSwitchedOn, one.formerName, one.runner) = (before?.isSwitchedOn, before?.rule.name, before?.runner)
        if let before, rule.span != nil { one.firings = before.firings }
        if let before, rule.unless != nil {
            for var run in before.held {
                run.rule = rule.name
                one.restore(run)
            }
        }
        if let before, rule.remembersSame(as: before.rule) {
            (one.here.seen, one.elsewhere.seen) = (before.here.seen, before.elsewhere.seen)
            one.needsHistory = before.needsHistory
        }
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
        let names = Set(rules.map(\.name))
        /// Returns true if a rule differs by its name only, and no other has the earlier name.
        func isRenamed(_ before: Rule, to rule: Rule) -> Bool {
            var before = before.renaming(renamed)
            guard !names.contains(before.name) else { return false }
            before.name = rule.name
            return before == rule
        }
        for rule in rules {
            if let index = gone.firstIndex(where: { $0.rule == rule }) {
                active.append(gone.remove(at: index))
            } else if let index = gone.firstIndex(where: { $0.rule.renaming(renamed) == rule }) {
                var one = gone.remove(at: index)
                one.rule = rule
                active.append(one)
            } else {
                add(
                    rule,
                    after: gone.first { $0.rule.name == rule.name } ?? gone.first { isRenamed($0.rule, to: rule) })
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
            for change in missing {
                _ = active[index].heard.receive(change)
                decisions += note(change, in: regions, index)
            }
            for change in active[index].isNew ? reports.standing : changes {
                decisions += note(change, in: regions, index)
                let names = regions.lazy.filter { $0.constraint.matches(change.beacon) }.map(\.name)
                guard active[index].rule.concerns(change.beacon, of: Set(names)) else { continue }
                let matches = active[index].heard.receive(change)
                decisions += decide(index, matches)
            }
            active[index].isNew = false
        }
        return decisions
    }

    /// Notes a change for the conditions of a rule on other beacons.
    private mutating func note(
        _ change: ProximityChange, in regions: [BeaconNotification.Region], _ index: Int
    ) -> [Decision] {
        guard let second, active[index].rule.unless != nil else { return [] }
        let names = regions.filter { $0.constraint.matches(change.beacon) }.map(\.name)
        // Waiting runs have the times of the wall clock.
        let lead = second.time.since(reports.time)
        var change = change
        change.time = change.time.advanced(by: lead)
        return active[index].note(change, of: ["\(change.beacon)"] + names.sorted(), in: Set(names), isHere: true)
            .map { Decision(index, $0) }
    }

    /// Returns the decisions for stays that have become long enough, and for waiting runs whose time is over. Call it
    /// once all reports of a second have arrived.
    mutating func settle() -> [Decision] {
        var decisions: [Decision] = []
        for index in active.indices {
            let matches = active[index].heard.advance(to: reports.time)
            decisions += decide(index, matches)
            decisions += release(index)
        }
        return decisions
    }

    /// Returns the decisions for waiting runs of a rule whose time is over. While no receiver hears, they wait.
    private mutating func release(_ index: Int) -> [Decision] {
        guard let second else { return [] }
        return active[index].release(
            here: true, now: second.time, named: Array(second.beacons.keys), ids: &ids
        ) { $0 <= second.time }.map { Decision(index, $0) }
    }

    /// Returns the decisions for a run that waits from now on, for an event of this machine in the history.
    mutating func hold(_ run: HeldRun, _ index: Int) -> [Decision] {
        var work = active[index].hold(run)
        // It is stored already.
        work.held = nil
        return [Decision(index, RuleDecision(run.occurrence, work))] + release(index)
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
            var json: [UInt8] = []
            if active[index].rule.target != nil {
                EventJSON.append(line, adding: settings?.jsonMembers ?? [], to: &json)
            }
            let work = active[index].decide(occurrence, line: json, named: Array(second.beacons.keys), ids: &ids)
            return Decision(index, RuleDecision(occurrence, work))
        }
    }

    /// Returns the decisions for an event of a region or a place, or for a suspicion.
    mutating func receive(_ event: BeaconNotification, in configuration: GatewayConfiguration) -> [Decision] {
        var decisions: [Decision] = []
        for index in active.indices {
            decisions += active[index].receive(event, nil, from: nil, now: nil, in: configuration, ids: &ids) { _ in
                .zero
            }.map { Decision(index, $0) }
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

extension BeaconSettings {
    /// The name and the attributes as members of the beacon's JSON object.
    fileprivate var jsonMembers: [UInt8] {
        var members: [String: JSONValue] = ["name": .string(name)]
        if !attributes.isEmpty { members["attributes"] = .object(attributes.mapValues { .string($0) }) }
        return Array(((try? JSONEncoder.sorted.encode(members)) ?? Data()).dropFirst().dropLast())
    }
}
