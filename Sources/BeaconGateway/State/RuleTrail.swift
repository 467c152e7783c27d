package import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// An entry of the audit trail: a run of a rule, or the reason why it did not run.
package struct RuleRun: Sendable {
    /// What became of it.
    package enum Outcome: String, Sendable, Codable {
        case done, failed, waiting, withheld
    }

    /// Its name, which a request for earlier entries gives; nil before it is kept.
    package var id: String?
    package var time: Timestamp
    package var rule: String
    /// The number of the event in the history; nil where it is not known.
    package var event: Int64?
    package var summary: String
    package var person: String?
    /// The action in words: the program, "message to …", "notification to …".
    package var action: String
    package var outcome: Outcome
    /// Why it failed or was withheld.
    package var detail: String?
}

/// The name is the key.
extension RuleRun: Codable {
    enum CodingKeys: CodingKey { case time, rule, event, summary, person, action, outcome, detail }
}

/// The time at which a rule ran for a person.
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

    /// Returns the changes that add to the audit trail, and note when rules ran.
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

    /// Returns entries of the audit trail, the newest first.
    ///
    /// - Parameters:
    ///   - rule: of which rule; nil for all.
    ///   - before: only those before this one.
    ///   - limit: the most to return.
    /// - Returns: the entries, and the one before which the next page begins; nil at the end.
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

    /// Returns when rules ran last for whom, of those for which that matters, and forgets the others.
    ///
    /// - Parameters:
    ///   - spans: the span of each rule in which it runs once.
    ///   - now: the time.
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
        // Whether the disk takes that or not, the others are known.
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

    /// Switches a rule on or off, whatever its settings say.
    func setSwitch(of rule: String, to isOn: Bool) async throws {
        try await store.update { state, step in
            var switches = try Self.switches(in: state)
            switches[rule] = isOn
            step.changes.append(try StateChange(Namespace.setting, Self.switches, switches))
        }
    }

    /// Gives the switches of rules to other names; nil forgets one.
    static func moveSwitches(_ names: [(old: String, new: String?)], in state: StateReader, _ step: inout Step) throws {
        var switches = try switches(in: state)
        let before = switches
        for (old, new) in names {
            guard let isOn = switches.removeValue(forKey: old) else { continue }
            if let new { switches[new] = isOn }
        }
        if switches != before { step.changes.append(try StateChange(Namespace.setting, Self.switches, switches)) }
    }
}
