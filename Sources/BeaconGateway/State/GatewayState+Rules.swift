import BeaconModel
import BeaconSupport
import Foundation
import GRDB

/// What a rule did, or why it did nothing: an entry of the audit trail.
struct RuleRun: Sendable {
    /// What became of it.
    enum Outcome: String, Sendable {
        case done, failed, waiting, withheld
    }

    /// Its number, by which one asks for those before it; nil before it is kept.
    var number: Int64?
    var time: Timestamp
    var rule: String
    /// The number of the event in the history; nil where it is not known.
    var event: Int64?
    var summary: String
    var person: String?
    /// What is done, in words: the program, "message to …", "notification to …".
    var action: String
    var outcome: Outcome
    /// Why it failed or was withheld.
    var detail: String?
}

extension GatewayState {
    /// The entries of the audit trail that are kept.
    static let mostRuns = 20_000

    /// Adds to the audit trail.
    func add(_ runs: [RuleRun], firings: [RuleFiring] = []) async throws {
        guard !runs.isEmpty || !firings.isEmpty else { return }
        try await write { database in
            try Self.add(runs, in: database)
            try Self.add(firings, in: database)
        }
    }

    static func add(_ runs: [RuleRun], in database: Database) throws {
        guard !runs.isEmpty else { return }
        for run in runs {
            try database.execute(
                sql: """
                    INSERT INTO run (time, rule, event, summary, person, action, outcome, detail)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    run.time.nanoseconds, run.rule, run.event, run.summary, run.person, run.action,
                    run.outcome.rawValue, run.detail,
                ])
        }
        try database.execute(
            sql: "DELETE FROM run WHERE number <= (SELECT max(number) FROM run) - ?", arguments: [mostRuns])
    }

    /// Returns entries of the audit trail, the newest first.
    ///
    /// - Parameters:
    ///   - rule: of which rule; nil for all.
    ///   - before: only those before this number.
    ///   - limit: the most to return.
    func runs(of rule: String?, before: Int64?, limit: Int) async throws -> [RuleRun] {
        try await read { [file] database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM run WHERE (? IS NULL OR rule = ?) AND (? IS NULL OR number < ?)
                    ORDER BY number DESC LIMIT ?
                    """,
                arguments: [rule, rule, before, before, limit])
            return file.values(of: rows) { row in
                RuleRun(
                    number: try row.decode(forColumn: "number"),
                    time: Timestamp(nanoseconds: try row.decode(forColumn: "time")),
                    rule: try row.decode(forColumn: "rule"), event: try row.decode(forColumn: "event"),
                    summary: try row.decode(forColumn: "summary"), person: try row.decode(forColumn: "person"),
                    action: try row.decode(forColumn: "action"),
                    outcome: RuleRun.Outcome(rawValue: try row.decode(forColumn: "outcome")) ?? .done,
                    detail: try row.decode(forColumn: "detail"))
            }
        }
    }

    // MARK: - At most once in a span

    static func add(_ firings: [RuleFiring], in database: Database) throws {
        for firing in firings {
            try database.execute(
                sql: "INSERT OR REPLACE INTO firing (rule, person, time) VALUES (?, ?, ?)",
                arguments: [firing.rule, firing.person, firing.time.nanoseconds])
        }
    }

    /// Returns when rules ran last for whom, of those for which that matters.
    ///
    /// - Parameter spans: the span of each rule in which it runs once.
    func firings(_ spans: [String: Duration]) async throws -> [RuleFiring] {
        try await read { [file] database in
            file.values(of: try Row.fetchAll(database, sql: "SELECT * FROM firing ORDER BY time")) { row in
                let rule: String = try row.decode(forColumn: "rule")
                guard spans[rule] != nil else { return nil }
                return RuleFiring(
                    rule: rule, person: try row.decode(forColumn: "person"),
                    time: Timestamp(nanoseconds: try row.decode(forColumn: "time")))
            }
        }
    }

    /// Forgets when rules ran that are no more, or longer ago than matters.
    func forgetFirings(but spans: [String: Duration], at now: Timestamp) async throws {
        try await write { database in
            for name in try String.fetchAll(database, sql: "SELECT DISTINCT rule FROM firing") {
                let before = spans[name].map { now.advanced(by: -$0.clampedNanoseconds).nanoseconds } ?? .max
                try database.execute(
                    sql: "DELETE FROM firing WHERE rule = ? AND time < ?", arguments: [name, before])
            }
        }
    }

    // MARK: - On and off

    /// Returns the rules that were switched on or off in the console.
    func switches() async throws -> [String: Bool] {
        try await value(of: .switches).flatMap { try? JSONDecoder().decode([String: Bool].self, from: $0) } ?? [:]
    }

    /// Gives the switch of a rule to another name; nil forgets it.
    static func moveSwitch(of rule: String, to name: String?, in database: Database) throws {
        var switches =
            try value(of: .switches, in: database)
            .flatMap { try? JSONDecoder().decode([String: Bool].self, from: $0) } ?? [:]
        guard let isOn = switches.removeValue(forKey: rule) else { return }
        if let name { switches[name] = isOn }
        try set(.switches, to: JSONEncoder().encode(switches), in: database)
    }

    /// Switches a rule on or off, whatever its settings say.
    func setSwitch(of rule: String, to isOn: Bool) async throws {
        try await write { database in
            var switches =
                try Self.value(of: .switches, in: database)
                .flatMap { try? JSONDecoder().decode([String: Bool].self, from: $0) } ?? [:]
            switches[rule] = isOn
            try Self.set(.switches, to: JSONEncoder().encode(switches), in: database)
        }
    }
}

/// When a rule ran for somebody.
struct RuleFiring: Hashable, Sendable {
    var rule: String
    var person: String
    var time: Timestamp
}
