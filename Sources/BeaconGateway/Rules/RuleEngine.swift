package import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
package import Logging

/// The rules of the configuration and the console, and their actions for events of this machine, of apps and of other
/// beacond.
package actor RuleEngine {
    /// The time between two attempts to write.
    static let pause = Duration.seconds(1)

    private var book = RuleBook()
    let trail: RuleTrail?
    let delivery: DeliveryService<ContinuousClock>?
    let logger: Logger
    private var isStopped = false

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
        needs = Locked(Needs(rules))
        for rule in rules { book.add(rule) }
        for (index, rule) in rules.enumerated() where rule.target != nil {
            book.active[index].runner = RuleRunner(rule, logger: logger)
        }
    }

    // MARK: - The rules

    /// The rules with their state.
    package var active: [ActiveRule] { book.active }

    /// Returns the rules in the form of the journal.
    func recorded(
        _ configuration: GatewayConfiguration, _ beacons: RecordedBeacons, hasState: Bool
    ) -> RecordedRules {
        RecordedRules(active, of: configuration, recorded: beacons, hasState: hasState)
    }

    /// Restores the state of an earlier run.
    package func restore() async {
        guard let trail else { return }
        do {
            try await readSwitches()
            for firing in try await trail.firings(spans, at: trail.store.wallTime) {
                guard let index = active.firstIndex(where: { $0.rule.name == firing.rule }) else { continue }
                book.active[index].firings[firing.person] = firing.time
            }
            var orphans: [HeldRun] = []
            let (runs, unreadable) = try await trail.heldRuns()
            if !unreadable.isEmpty {
                logger.error(
                    "\(unreadable.count) waiting runs of rules cannot be read, and will not run; deleting them")
                store(ActiveRule.Work(ended: unreadable))
            }
            for run in runs {
                guard let index = active.firstIndex(where: { $0.rule.name == run.rule && $0.rule.unless != nil })
                else {
                    orphans.append(run)
                    continue
                }
                book.active[index].restore(run)
            }
            drop(orphans)
        } catch {
            logger.error(
                "cannot read the past runs of rules: \(error); rules that run once in a span may run again, and waiting runs wait for the next start"
            )
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
        let known = Set(active.map(\.number))
        let names = Dictionary(active.flatMap(\.held).map { ($0.id, $0.rule) }) { first, _ in first }
        let gone = book.update(rules, renamed: renamed)
        for (index, one) in active.enumerated() where !known.contains(one.number) {
            // Stored under the rule's new name.
            if let former = one.formerName, former != one.rule.name { store(one.firings, of: one.rule) }
            book.active[index].runner =
                one.rule.target == nil ? nil : RuleRunner(one.rule, logger: logger, after: one.runner)
        }
        needs.withLock { $0 = Needs(rules) }
        let waiting = active.flatMap(\.held)
        for run in waiting where names[run.id] != run.rule { store(ActiveRule.Work(held: run)) }
        let ids = Set(waiting.map(\.id))
        drop(gone.flatMap(\.held).filter { !ids.contains($0.id) })
        leaving = (leaving + gone.compactMap(\.runner)).filter(\.isWorking)
        // Without effect on a runner that another one replaces.
        for one in gone { one.runner?.drop(Self.isGone) }
    }

    private static let isGone = "the rule was removed, or starts no program any longer"
    /// The runners of changed or removed rules whose programs run.
    private var leaving: [RuleRunner] = []

    /// Returns the position of a rule that may have a new name by now.
    private func index(ofRule name: String) -> Int? {
        active.firstIndex { $0.rule.name == name } ?? active.firstIndex { $0.formerName == name }
    }

    private func store(_ firings: [String: Timestamp], of rule: Rule) {
        let firings = firings.map { RuleFiring(rule: rule.name, person: $0.key, time: $0.value) }
        guard let trail, !firings.isEmpty else { return }
        do {
            trail.store.enqueue(Step(changes: try trail.changes(adding: [], firings)))
        } catch {
            logger.error("the past runs of rule \(rule.name) are lost: \(error)")
        }
    }

    /// Switches a rule on or off.
    ///
    /// - Returns: false if no rule has this name.
    package func set(_ name: String, isOn: Bool) async throws -> Bool {
        guard active.contains(where: { $0.rule.name == name }) else { return false }
        try await trail?.setSwitch(of: name, to: isOn)
        // The rules may have changed while the switch was stored.
        if let index = active.firstIndex(where: { $0.rule.name == name }) { book.active[index].isSwitchedOn = isOn }
        return true
    }

    /// Reads the switches of the rules again, after a rule was renamed or removed.
    package func readSwitches() async throws {
        guard let switches = try await trail?.switches() else { return }
        for index in active.indices { book.active[index].isSwitchedOn = switches[active[index].rule.name] }
    }

    // MARK: - Events of this machine

    /// The needs of the rules.
    private struct Needs {
        var (hasRules, ranging, history): (Bool, Bool, Bool)

        init(_ rules: [Rule]) {
            hasRules = !rules.isEmpty
            ranging = rules.contains(where: \.needsRanging)
            history = ranging || rules.contains(where: \.remembersSightings)
        }
    }

    private nonisolated let needs: Locked<Needs>

    /// True if the rules require ranging beacons.
    nonisolated var needsRanging: Bool { needs.withLock { $0.ranging } }

    /// True if the rules need the proximity of beacons in earlier events.
    nonisolated var needsHistory: Bool { needs.withLock { $0.history } }

    /// True if there are rules.
    nonisolated var hasRules: Bool { needs.withLock { $0.hasRules } }

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
        guard !isStopped else { return }
        act(on: book.receive(report, at: time, from: receiver, regions: regions, beacons: beacons))
    }

    /// Runs the rules for stays that have become long enough. Call it once all reports of a second have arrived.
    func settle() {
        guard !isStopped else { return }
        act(on: book.settle())
    }

    // MARK: - Acting

    /// Records decisions, and starts programs.
    private func act(on decisions: [RuleBook.Decision]) {
        for decision in decisions {
            store(decision.work)
            guard decision.work.ran else { continue }
            book.active[decision.index].counts.last = Date()
            let one = active[decision.index]
            guard let runner = one.runner, let line = decision.work.line else { continue }
            let run = one.rule.run(for: decision.occurrence, .program)
            if decision.work.ended.isEmpty {
                start(runner, run, line)
            } else {
                startAfterWrites(runner, run, line)
            }
        }
    }

    /// The start of programs of runs that waited.
    private var starting: Task<Void, Never>?

    /// Starts the program of a run that waited once its end is on the disk. After a crash before that, it would start
    /// twice.
    private func startAfterWrites(_ runner: RuleRunner, _ run: RuleRun, _ line: [UInt8]) {
        starting = Task { [starting] in
            await starting?.value
            guard await isWritten() else {
                return logger.error(
                    "rule \(run.rule): beacond ends, and cannot store that a run no longer waits; it runs after the next start"
                )
            }
            start(runner, run, line)
        }
    }

    /// Waits until everything until now is on the disk, also while the disk fails.
    ///
    /// - Returns: false if it is not, and beacond ends.
    private func isWritten() async -> Bool {
        guard let store = trail?.store else { return true }
        while true {
            // Steps are written in their order.
            if (try? await store.append(Step())) != nil { return true }
            if isStopped { return false }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Records that runs no longer wait, because their rule was removed or changed.
    private func drop(_ runs: [HeldRun]) {
        for run in runs {
            let entry = RuleRun(
                time: run.occurrence.time, rule: run.rule, event: run.occurrence.number,
                summary: run.occurrence.notification.summary,
                person: run.occurrence.person.isEmpty ? nil : run.occurrence.person, action: "", outcome: .withheld,
                detail: "the rule was removed, or no longer waits")
            store(ActiveRule.Work(runs: [entry], ended: [run.id]))
        }
    }

    /// Starts the program of a rule. The audit trail gets the run with its outcome.
    private func start(_ runner: RuleRunner, _ run: RuleRun, _ json: [UInt8]) {
        runner.enqueue(json) { [weak self] fault in
            var run = run
            run.outcome = fault == nil ? .done : .failed
            run.detail = fault
            self?.store(ActiveRule.Work(runs: [run]))
        }
    }

    /// Stores the result of a rule soon. While the disk fails, it waits in the memory of the event store.
    private nonisolated func store(_ work: ActiveRule.Work) {
        guard let trail,
            !work.runs.isEmpty || work.firing != nil || work.notification != nil || work.held != nil
                || !work.ended.isEmpty
        else { return }
        do {
            trail.store.enqueue(try step(for: [work]))
        } catch {
            logger.error("a result of a rule is lost: \(error)")
        }
    }

    /// Returns the step that stores the rules' work: their notifications, the audit trail and the times of their runs.
    /// The store recognizes by its id a notification that it already has because rules decided twice.
    nonisolated func step(for work: [ActiveRule.Work]) throws -> Step {
        var step = Step(
            changes: try trail?.changes(adding: work.flatMap(\.runs), work.compactMap(\.firing)) ?? [])
        step.changes += try trail?.changes(holding: work.compactMap(\.held), ending: work.flatMap(\.ended)) ?? []
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
    ///   ``apply(_:_:starting:)`` to keep the changes.
    func reviewed<Value: Sendable>(_ decide: @Sendable (inout [ActiveRule]) -> Value) -> (Value, [ActiveRule]) {
        var copy = active
        // The copies count what is new.
        for index in copy.indices { copy[index].counts = ActiveRule.Counts() }
        let value = decide(&copy)
        for index in copy.indices where copy[index].counts.ran > 0 { copy[index].counts.last = Date() }
        return (value, copy)
    }

    /// True once rules have replayed the events that apps and other gateways reported before the start.
    private(set) var hasReplayed = false

    /// Marks the events from before the start as replayed to some rules.
    func setReplayed(to rules: Set<Int>) {
        hasReplayed = true
        for index in active.indices where rules.contains(active[index].number) {
            book.active[index].needsHistory = false
        }
    }

    /// The earliest time of arrival of an event after which a waiting run no longer waits; nil without one.
    var nextRelease: Timestamp? { active.lazy.flatMap { $0.elsewhere.held.map(\.due) }.min() }

    /// Keeps the state of rules after events of apps and other gateways, and starts their programs.
    ///
    /// A rule may have been changed since the decisions: then it keeps its own state, with the runs that ended or wait
    /// by these decisions.
    ///
    /// - Parameters:
    ///   - reviewed: the copies of the rules that decided.
    ///   - work: the decisions, which are stored.
    ///   - lines: the programs to start, with their lines.
    func apply(
        _ reviewed: [ActiveRule], _ work: [ActiveRule.Work] = [], starting lines: [(run: RuleRun, json: [UInt8])] = []
    ) {
        let ended = Set(work.flatMap(\.ended))
        var same: Set<Int> = []
        for one in reviewed {
            guard
                let index = active.firstIndex(where: { $0.number == one.number }) ?? index(ofRule: one.rule.name)
            else { continue }
            if active[index].number == one.number {
                same.insert(index)
                book.active[index].reported = one.reported
                book.active[index].elsewhere = one.elsewhere
            } else if active[index].rule.remembersSame(as: one.rule) {
                book.active[index].elsewhere.seen = one.elsewhere.seen
            }
            if active[index].rule.span != nil {
                book.active[index].firings.merge(one.firings) { max($0, $1) }
                if active[index].rule.name != one.rule.name { store(one.firings, of: active[index].rule) }
            }
            book.active[index].counts.ran += one.counts.ran
            book.active[index].counts.withheld += one.counts.withheld
            book.active[index].counts.last = one.counts.last ?? active[index].counts.last
        }
        if !ended.isEmpty {
            for index in active.indices {
                book.active[index].here.held.removeAll { ended.contains($0.id) }
                book.active[index].elsewhere.held.removeAll { ended.contains($0.id) }
            }
        }
        for var run in work.compactMap(\.held) where !ended.contains(run.id) {
            guard let index = index(ofRule: run.rule), active[index].rule.unless != nil else {
                drop([run])
                continue
            }
            if run.rule != active[index].rule.name {
                run.rule = active[index].rule.name
                store(ActiveRule.Work(held: run))
            }
            if run.isHere {
                // The receivers of this machine decide about its own events.
                act(on: book.hold(run, index))
            } else if !same.contains(index) {
                book.active[index].restore(run)
            }
        }
        for line in lines {
            guard let runner = index(ofRule: line.run.rule).flatMap({ active[$0].runner }) else {
                var run = line.run
                (run.outcome, run.detail) = (.failed, Self.isGone)
                store(ActiveRule.Work(runs: [run]))
                continue
            }
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
        await starting?.value
        let runners = active.compactMap(\.runner) + leaving
        await withTaskGroup(of: Void.self) { group in
            for runner in runners { group.addTask { await body(runner) } }
        }
        // Steps are written in their order. On a disk that fails, the results wait in memory.
        _ = try? await trail?.store.append(Step())
    }
}

extension Rule {
    /// The actions of a rule that have their own entry in the audit trail.
    enum Action {
        case all, program, others
    }

    /// Returns the entry of the audit trail for actions of the rule.
    func run(for occurrence: RuleOccurrence, _ action: Action = .all) -> RuleRun {
        let person = occurrence.person
        return RuleRun(
            time: occurrence.time, rule: name, event: occurrence.number, summary: occurrence.notification.summary,
            person: person.isEmpty ? nil : person,
            action: text(of: action, hasInstall: occurrence.notification.install != nil), outcome: .done)
    }

    /// The actions of the rule as text.
    package var actionText: String { text(of: .all, hasInstall: true) }

    /// - Parameter hasInstall: false if no install can get a message.
    private func text(of action: Action, hasInstall: Bool) -> String {
        var parts: [String] = []
        switch action == .others ? nil : target {
        // Arguments may contain secrets that not every user of the console should see.
        case .program(let words)?: parts.append((words.first ?? "") + (words.count > 1 ? " …" : ""))
        case .unit(let name)?: parts.append("systemctl start \(name)")
        case nil: break
        }
        guard action != .program else { return parts.joined() }
        if message != nil, hasInstall { parts.append("message to the install") }
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

extension EventID {
    /// Creates the id of a rule's notification for an event of the history. It is the same each time.
    init(rule: String, number: Int64, of occurrence: RuleOccurrence) {
        self.init(hashing: "\(rule)\u{0}\(number)\u{0}\(occurrence.time.nanoseconds)\u{0}\(occurrence.event)")
    }
}
