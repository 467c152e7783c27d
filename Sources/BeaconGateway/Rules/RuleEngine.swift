package import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconSupport
package import Foundation
package import Logging

/// The rules of the configuration and the console, and their actions for events of this machine, of apps and of other
/// beacond.
package actor RuleEngine {
    /// A rule with its runner and its state.
    package struct Active: Sendable {
        package var rule: Rule
        /// The runner of the program; nil if the rule has none.
        package var runner: RuleRunner?
        /// The matcher for events of this machine's receivers.
        var heard: ProximityMachine
        /// True until the rule has seen the present state of the receivers.
        var isNew = true
        /// The newest notified proximity of each beacon by receiver; only in a trial.
        var notified: [BeaconIdentity: [String: Proximity]] = [:]
        /// The matcher for events of apps and other gateways.
        var reported: ProximityMachine
        /// The switch in the console; nil if it was not used.
        package var isSwitchedOn: Bool?
        /// The time of the last run for each person, if the rule runs once in a span.
        var firings: [String: Timestamp] = [:]
        package var counts = Counts()

        package var isEnabled: Bool { isSwitchedOn ?? rule.isEnabled }

        /// Creates an active rule without state.
        package init(_ rule: Rule, runner: RuleRunner? = nil) {
            self.rule = rule
            self.runner = runner
            heard = ProximityMachine(rule.events)
            // Limits the memory that invented installs can occupy.
            reported = heard
            reported.maximum = 10_000
        }
    }

    /// Counters of a rule since beacond started, except those of its program.
    package struct Counts: Hashable, Sendable {
        /// The events for which it ran.
        package var ran = 0
        /// The events for which it did not run, because of its schedule, its span or a late event.
        package var withheld = 0
        package var last: Date?
    }

    /// The most people whose last run a rule with a span remembers. If there are more, the least recent are forgotten,
    /// except named beacons. Limits the memory that invented beacons can occupy.
    private static let maximumPeople = 10_000

    /// The time between two attempts to write.
    static let pause = Duration.seconds(1)

    package private(set) var active: [Active] = []
    let trail: RuleTrail?
    let delivery: DeliveryService<ContinuousClock>?
    let logger: Logger
    private var reports = ProximityReports()
    /// The newest second of reports, by the wall clock, and the configured regions and beacons.
    private var second:
        (time: Timestamp, regions: [BeaconNotification.Region], beacons: [BeaconIdentity: BeaconSettings])?
    private var ids = EventIDs()
    private var isStopped = false

    /// The data to write for one event of one rule.
    package struct Work: Sendable {
        package var runs: [RuleRun] = []
        var firing: RuleFiring?
        var notification: BeaconNotification?
        var destinations: [String] = []
    }

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - trail: the audit trail; nil for none.
    ///   - delivery: the service that delivers to destinations; nil without destinations.
    ///   - logger: the log, which also gets the output of programs.
    package init(
        _ rules: [Rule], trail: RuleTrail? = nil, delivery: DeliveryService<ContinuousClock>? = nil, logger: Logger
    ) {
        self.trail = trail
        self.delivery = delivery
        self.logger = logger
        active = rules.map { Self.active($0, logger) }
        kinds = Locked(Set(rules.flatMap(\.events)))
    }

    private static func active(_ rule: Rule, _ logger: Logger, after predecessor: RuleRunner? = nil) -> Active {
        Active(rule, runner: rule.target == nil ? nil : RuleRunner(rule, logger: logger, after: predecessor))
    }

    // MARK: - The rules

    /// Restores the state of an earlier run.
    package func restore() async {
        guard let trail else { return }
        do {
            try await readSwitches()
            for firing in try await trail.firings(spans, at: trail.store.wallTime) {
                guard let index = active.firstIndex(where: { $0.rule.name == firing.rule }) else { continue }
                active[index].firings[firing.person] = firing.time
            }
        } catch {
            logger.error("cannot read the past runs of rules: \(error); rules that run once in a span may run again")
        }
    }

    private var spans: [String: Duration] {
        Dictionary(active.compactMap { one in one.rule.span.map { (one.rule.name, $0) } }) { first, _ in first }
    }

    /// Replaces the rules. Unchanged rules keep their state and their running programs.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - renamed: the renamed regions and places. A rule that only differs by a new name is unchanged.
    func update(_ rules: [Rule], renamed: RenamedItems = RenamedItems()) async {
        var gone = active
        var next: [Active] = []
        for rule in rules {
            if let index = gone.firstIndex(where: { $0.rule == rule }) {
                next.append(gone.remove(at: index))
            } else if let index = gone.firstIndex(where: { $0.rule.renaming(renamed) == rule }) {
                var one = gone.remove(at: index)
                one.rule = rule
                next.append(one)
            } else {
                let before = gone.first { $0.rule.name == rule.name }
                var one = Self.active(rule, logger, after: before?.runner)
                // A changed rule keeps its switch, and its past runs if it still has a span.
                if let before {
                    one.isSwitchedOn = before.isSwitchedOn
                    if rule.span != nil { one.firings = before.firings }
                }
                next.append(one)
            }
        }
        active = next
        kinds.withLock { $0 = Set(rules.flatMap(\.events)) }
        for runner in gone.compactMap(\.runner) { Task { await runner.finish() } }
    }

    /// Switches a rule on or off.
    ///
    /// - Returns: false if no rule has this name.
    package func set(_ name: String, isOn: Bool) async throws -> Bool {
        guard active.contains(where: { $0.rule.name == name }) else { return false }
        try await trail?.setSwitch(of: name, to: isOn)
        // The rules may have changed while the switch was stored.
        if let index = active.firstIndex(where: { $0.rule.name == name }) { active[index].isSwitchedOn = isOn }
        return true
    }

    /// Reads the switches of the rules again, after a rule was renamed or removed.
    package func readSwitches() async throws {
        guard let switches = try await trail?.switches() else { return }
        for index in active.indices { active[index].isSwitchedOn = switches[active[index].rule.name] }
    }

    // MARK: - Events of this machine

    private nonisolated let kinds: Locked<Set<RuleEvent>>

    /// True if the rules have events that require ranging beacons.
    nonisolated var needsRanging: Bool { kinds.withLock { $0.contains(where: \.needsRanging) } }

    /// True if there are rules.
    nonisolated var hasRules: Bool { kinds.withLock { !$0.isEmpty } }

    /// Runs the rules for a ranging report.
    ///
    /// - Parameters:
    ///   - report: the report, by the wall clock.
    ///   - time: the same second by the core's clock.
    ///   - receiver: the receiver.
    ///   - regions: the configured regions.
    ///   - beacons: the named beacons, with their names and fixed places.
    func handle(
        _ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID, regions: [BeaconNotification.Region],
        beacons: [BeaconIdentity: BeaconSettings]
    ) {
        second = (report.time, regions, beacons)
        let changes = reports.receive(report, at: time, from: receiver).sorted { $0.beacon < $1.beacon }
        for index in active.indices {
            for change in active[index].isNew ? reports.standing : changes {
                let names = regions.lazy.filter { $0.constraint.matches(change.beacon) }.map(\.name)
                guard active[index].rule.concerns(change.beacon, of: Set(names)) else { continue }
                decide(index, active[index].heard.receive(change))
            }
            active[index].isNew = false
        }
    }

    /// Runs the rules for stays that have become long enough. Call it once all reports of a second have arrived.
    func settle() {
        for index in active.indices { decide(index, active[index].heard.advance(to: reports.time)) }
    }

    private func decide(_ index: Int, _ matches: [ProximityMatch]) {
        for match in matches {
            guard let second, let event = RuleEvent(match.condition),
                var line = reports.event(of: match, at: second.time)
            else { continue }
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
            // For a rule with regions, the event names the first match of them.
            if let names = active[index].rule.regions {
                line.constraint = regions.first { names.contains($0.name) }?.constraint ?? line.constraint
            }
            decide(index, occurrence) {
                var json: [UInt8] = []
                EventJSON.append(line, adding: settings?.jsonMembers ?? [], to: &json)
                return json
            }
        }
    }

    // MARK: - Deciding and doing

    /// Decides whether a rule runs for an occurrence, records the decision, and starts the program.
    private func decide(_ index: Int, _ occurrence: RuleOccurrence, line: () -> [UInt8]) {
        guard !isStopped, active[index].isEnabled, active[index].rule.concerns(occurrence) else { return }
        var ran = false
        let work = Self.decide(
            &active[index], occurrence, named: second.map { Array($0.beacons.keys) } ?? [], ids: &ids, ran: &ran)
        store(work)
        if ran, let runner = active[index].runner { start(runner, active[index].rule.run(for: occurrence), line()) }
    }

    /// Decides whether a rule runs for an occurrence that concerns it.
    ///
    /// - Parameter named: the named beacons, whose last run is always remembered.
    package static func decide(
        _ one: inout Active, _ occurrence: RuleOccurrence,
        named: @autoclosure () -> [BeaconIdentity], ids: inout EventIDs, ran: inout Bool
    ) -> Work {
        let rule = one.rule
        let person = occurrence.personKey
        var run = rule.run(for: occurrence)
        if let reason = rule.reason(against: occurrence, last: one.firings[person]) {
            one.counts.withheld += 1
            run.outcome = .withheld
            run.detail = reason
            return Work(runs: [run])
        }
        one.counts.ran += 1
        one.counts.last = Date()
        ran = true
        // The outcome of a program is recorded once it has ended.
        var work = Work(runs: rule.target == nil || rule.message != nil || !rule.destinations.isEmpty ? [run] : [])
        if rule.span != nil {
            if one.firings.count >= maximumPeople, one.firings[person] == nil {
                // A tenth at once, since sorting for every invented person would be slow.
                let names = Set(named().map(\.description))
                let others = one.firings.filter { !names.contains($0.key) }
                for oldest in others.sorted(by: { $0.value < $1.value }).prefix(maximumPeople / 10) {
                    one.firings[oldest.key] = nil
                }
            }
            one.firings[person] = occurrence.time
            work.firing = RuleFiring(rule: rule.name, person: person, time: occurrence.time)
        }
        if !rule.destinations.isEmpty {
            work.destinations = rule.destinations
            work.notification = rule.notification(of: occurrence, ids: &ids)
        }
        return work
    }

    /// Starts the program of a rule. The audit trail gets the run with its outcome.
    private func start(_ runner: RuleRunner, _ run: RuleRun, _ json: [UInt8]) {
        runner.enqueue(json) { [weak self] fault in
            var run = run
            run.outcome = fault == nil ? .done : .failed
            run.detail = fault
            self?.store(Work(runs: [run]))
        }
    }

    /// Stores the result of a rule soon. While the disk fails, it waits in the memory of the event store.
    private nonisolated func store(_ work: Work) {
        guard let trail, !work.runs.isEmpty || work.firing != nil || work.notification != nil else { return }
        do {
            trail.store.enqueue(try step(for: [work]))
        } catch {
            logger.error("a result of a rule is lost: \(error)")
        }
    }

    /// Returns the step that stores the rules' work: their notifications, the audit trail and the times of their runs.
    /// The store recognizes by its id a notification that it already has because rules decided twice.
    nonisolated func step(for work: [Work]) throws -> Step {
        var step = Step(
            changes: try trail?.changes(adding: work.flatMap(\.runs), work.compactMap(\.firing)) ?? [])
        for one in work {
            guard let notification = one.notification, let delivery else { continue }
            do throws(EventStoreError) {
                guard let event = try delivery.event(notification, for: one.destinations) else { continue }
                step.events.append(event)
            } catch {
                logger.error("a notification of a rule is lost: \(error)")
            }
        }
        return step
    }

    // MARK: - Events of apps and other gateways

    /// Decides what rules do for events of apps and other gateways.
    ///
    /// - Parameter decide: decides with a copy of the rules, and may change their state. Pass the copy to
    ///   ``apply(_:starting:)`` to keep the changes.
    func reviewed<Value: Sendable>(_ decide: @Sendable (inout [Active]) -> Value) -> (Value, [Active]) {
        var copy = active.filter(\.isEnabled)
        // The copies count what is new.
        for index in copy.indices { copy[index].counts = Counts() }
        let value = decide(&copy)
        return (value, copy)
    }

    /// True once rules have replayed the events that apps and other gateways reported before the start.
    private(set) var hasReplayed = false

    /// Marks the events from before the start as replayed.
    func setReplayed() { hasReplayed = true }

    /// Keeps the state of rules after events of apps and other gateways, and starts their programs.
    func apply(_ reviewed: [Active], starting lines: [(run: RuleRun, json: [UInt8])]) {
        for one in reviewed {
            guard let index = active.firstIndex(where: { $0.rule == one.rule }) else { continue }
            active[index].reported = one.reported
            active[index].firings.merge(one.firings) { max($0, $1) }
            active[index].counts.ran += one.counts.ran
            active[index].counts.withheld += one.counts.withheld
            active[index].counts.last = one.counts.last ?? active[index].counts.last
        }
        for line in lines {
            guard let runner = active.first(where: { $0.rule.name == line.run.rule })?.runner else { continue }
            start(runner, line.run, line.json)
        }
    }

    // MARK: - Shutdown

    /// The number of programs that were started.
    package var started: Int { active.reduce(0) { $0 + ($1.runner?.counts.started ?? 0) } }

    /// Waits until the programs of past events have ended or timed out.
    package func finish() async { await end { await $0.finish() } }

    /// Ends all programs of rules, and stores their results.
    package func stop() async { await end { await $0.stop() } }

    private func end(_ body: @escaping @Sendable (RuleRunner) async -> Void) async {
        isStopped = true
        let runners = active.compactMap(\.runner)
        await withTaskGroup(of: Void.self) { group in
            for runner in runners { group.addTask { await body(runner) } }
        }
        // Steps are written in their order. On a disk that fails, the results wait in memory.
        _ = try? await trail?.store.append(Step())
    }
}

extension Rule {
    /// Returns the entry of the audit trail for an event of the rule.
    func run(for occurrence: RuleOccurrence) -> RuleRun {
        let person = occurrence.person
        return RuleRun(
            time: occurrence.time, rule: name, event: occurrence.number, summary: occurrence.notification.summary,
            person: person.isEmpty ? nil : person, action: actionText, outcome: .done)
    }

    /// The action of the rule as text.
    package var actionText: String {
        var parts: [String] = []
        switch target {
        // Arguments may contain secrets that not every user of the console should see.
        case .program(let words)?: parts.append((words.first ?? "") + (words.count > 1 ? " …" : ""))
        case .unit(let name)?: parts.append("systemctl start \(name)")
        case nil: break
        }
        if message != nil { parts.append("message to the install") }
        if !destinations.isEmpty { parts.append("notification to \(destinations.joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    /// Returns the notification for the rule's destinations.
    func notification(of occurrence: RuleOccurrence, ids: inout EventIDs) -> BeaconNotification {
        var notification = BeaconNotification(
            id: occurrence.number.map { EventID(rule: name, number: $0, of: occurrence) }
                ?? ids.next(at: occurrence.time), kind: .application, time: occurrence.time)
        let event = occurrence.notification
        (notification.name, notification.place, notification.user) = (name, occurrence.place, event.person)
        (notification.beacon, notification.beaconName) = (event.beacon, event.beaconName)
        notification.beaconAttributes = event.beaconAttributes
        var properties: [String: JSONValue] = [
            "event": .string("\(occurrence.event)"), "summary": .string(event.summary),
        ]
        if let region = occurrence.regions.min() { properties["region"] = .string(region) }
        if let install = event.install { properties["install"] = .string(install) }
        if let beacon = event.beacon { properties["beacon"] = .string(beacon.description) }
        if let place = occurrence.place { properties["place"] = .string(place) }
        notification.properties = properties
        return notification
    }

    /// Returns the values for the placeholders of a message.
    static func placeholders(of occurrence: RuleOccurrence, title: String?) -> [String: String] {
        [
            "event": "\(occurrence.event)", "beacon": title ?? occurrence.notification.beacon?.description ?? "",
            "region": occurrence.regions.min() ?? "", "place": occurrence.place ?? "",
            "user": occurrence.notification.person ?? "",
        ]
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

extension EventID {
    /// Creates the id of a rule's notification for an event of the history. It is the same each time.
    init(rule: String, number: Int64, of occurrence: RuleOccurrence) {
        self.init(hashing: "\(rule)\u{0}\(number)\u{0}\(occurrence.time.nanoseconds)\u{0}\(occurrence.event)")
    }
}
