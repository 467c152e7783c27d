package import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// An entry of the audit trail: a run of a rule, or the reason why it did not run.
package struct RuleRun: Sendable {
    /// The outcome of a run.
    package enum Outcome: String, Sendable, Codable {
        case done, failed, withheld
    }

    /// The id, which requests for earlier entries use; nil before the entry is stored.
    package var id: String?
    package var time: Timestamp
    package var rule: String
    /// The number of the event in the history; nil if unknown.
    package var event: Int64?
    package var summary: String
    package var person: String?
    /// The action as text: the program, "message to …", "notification to …".
    package var action: String
    package var outcome: Outcome
    /// The reason why it failed or did not run.
    package var detail: String?
}

/// The id is the key of the entry, so it is not encoded.
extension RuleRun: Codable {
    enum CodingKeys: CodingKey { case time, rule, event, summary, person, action, outcome, detail }
}

/// The time of a rule's last run for a person.
struct RuleFiring: Hashable, Sendable, Codable {
    var rule: String
    var person: String
    var time: Timestamp
}

/// The audit trail of rules, the times of their last runs by person, and their switches.
package struct RuleTrail: Sendable {
    private typealias Namespace = GatewayState.Namespace

    let store: EventStore
    private let ids = Locked(EventIDs())

    init(store: EventStore) { self.store = store }

    /// Returns the changes that add entries to the audit trail and store the times of runs.
    func changes(adding runs: [RuleRun], _ firings: [RuleFiring]) throws -> [StateChange] {
        let now = store.wallTime
        return try runs.map { run in
            try StateChange(
                Namespace.run, "\(ids.withLock { $0.next(at: now) })", run, sender: GatewayState.part(run.rule))
        }
            + firings.map { firing in
                try StateChange(
                    Namespace.firing, GatewayState.key(firing.rule, firing.person), firing,
                    sender: GatewayState.part(firing.rule))
            }
    }

    /// Returns the changes that store runs that wait, and delete others.
    ///
    /// - Parameter ended: the ids of the runs that no longer wait.
    func changes(holding runs: [HeldRun], ending ended: [String]) throws -> [StateChange] {
        try runs.map { try StateChange(Namespace.held, $0.id, $0, sender: GatewayState.part($0.rule)) }
            + ended.map { StateChange(namespace: Namespace.held, key: $0, value: nil) }
    }

    /// Returns the runs that wait, in the order of their events, and the ids of those that cannot be read.
    func heldRuns() async throws(EventStoreError) -> (runs: [HeldRun], unreadable: [String]) {
        var (runs, unreadable) = ([HeldRun](), [String]())
        for row in try await store.readState({ try $0.rows(Namespace.held, limit: .max) }) {
            if let run = row.decoded(HeldRun.self) { runs.append(run) } else { unreadable.append(row.key) }
        }
        return (runs.sorted { ($0.occurrence.time, $0.id) < ($1.occurrence.time, $1.id) }, unreadable)
    }

    /// Returns entries of the audit trail, the newest first.
    ///
    /// - Parameters:
    ///   - rule: the name of a rule; nil for all rules.
    ///   - before: the id of an entry; only earlier ones are returned.
    ///   - limit: the most entries to return.
    /// - Returns: the entries, and the id before which the next page begins; nil at the end.
    package func runs(
        of rule: String?, before: String?, limit: Int
    ) async throws(EventStoreError) -> (runs: [RuleRun], next: String?) {
        try await store.readState { state in
            let rows = try state.last(
                Namespace.run, before: before, sender: rule.map(GatewayState.part), limit: limit)
            let runs = rows.compactMap { row in
                var run = row.decoded(RuleRun.self)
                run?.id = row.key
                return run
            }
            return (runs, rows.count == limit ? rows.last?.key : nil)
        }
    }

    // MARK: - At most once in a span

    /// Returns the last runs of rules that still count for their spans, and deletes the others.
    ///
    /// - Parameters:
    ///   - spans: the span of each rule that runs once in a span.
    ///   - now: the present time.
    func firings(
        _ spans: [String: Duration], at now: Timestamp
    ) async throws(EventStoreError) -> [RuleFiring] {
        let rows = try await store.readState { try $0.rows(Namespace.firing, limit: .max) }
        var (firings, past) = ([RuleFiring](), Step())
        for row in rows {
            if let firing = row.decoded(RuleFiring.self), let span = spans[firing.rule],
                firing.time >= now.advanced(by: -span.clampedNanoseconds)
            {
                firings.append(firing)
            } else {
                past.set(Namespace.firing, row.key, to: nil)
            }
        }
        // No need to wait: the result does not depend on this write.
        if !past.changes.isEmpty { store.enqueue(past) }
        return firings.sorted { $0.time < $1.time }
    }

    // MARK: - On and off

    private static let switches = "switches"

    private static func switches(in state: StateReader) throws -> [String: Bool] {
        try state.row(Namespace.setting, switches)?.decoded() ?? [:]
    }

    /// Returns the rules that were switched on or off in the console.
    func switches() async throws(EventStoreError) -> [String: Bool] {
        try await store.readState { try Self.switches(in: $0) }
    }

    /// Switches a rule on or off, which overrides its settings.
    func setSwitch(of rule: String, to isOn: Bool) async throws {
        try await store.update { state, step in
            var switches = try Self.switches(in: state)
            switches[rule] = isOn
            step.changes.append(try StateChange(Namespace.setting, Self.switches, switches))
        }
    }

    /// Moves the switches of renamed rules to their new names. A nil name deletes the switch.
    static func moveSwitches(_ names: [(old: String, new: String?)], in state: StateReader, _ step: inout Step) throws {
        if names.isEmpty { return }
        var switches = try switches(in: state)
        let before = switches
        for (old, new) in names {
            guard let isOn = switches.removeValue(forKey: old) else { continue }
            if let new { switches[new] = isOn }
        }
        if switches != before { step.changes.append(try StateChange(Namespace.setting, Self.switches, switches)) }
    }
}
