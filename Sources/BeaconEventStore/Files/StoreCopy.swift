import BeaconModel
import Foundation
import GRDB

/// A copy of a store in a new file: a backup, a restored store, or the readable part of a damaged one.
///
/// It reads only known columns of known tables, checks each value by type and size, and writes all of it with this
/// module's own statements. It does not copy triggers, views or anything else from the source.
struct StoreCopy {
    let source: StoreTables

    /// Returns whether to copy a namespace of the state.
    let hasNamespace: (String) -> Bool

    /// The values of the state to add to the copy.
    let addition: [StateChange]

    /// Whether to skip unreadable parts instead of failing, and to copy consumers.
    let isSalvage: Bool

    /// The maximum number of rows that a file of this size can have. A damaged table may contain cycles.
    private let maximumRows: Int

    init(
        source: StoreTables, hasNamespace: @escaping (String) -> Bool = { _ in true }, addition: [StateChange] = [],
        isSalvage: Bool = false
    ) throws {
        (self.source, self.hasNamespace, self.addition, self.isSalvage) = (source, hasNamespace, addition, isSalvage)
        func size(_ pragma: String) throws -> Int { try source.first("PRAGMA \(pragma)") { try $0.count(0) } ?? 0 }
        // The shortest row, with a name, has at least 16 bytes.
        maximumRows = try size("page_count") * size("page_size") / 16
    }

    /// The maximum number of positions of a damaged table at which reading is retried.
    private static let maximumAttempts = 100_000

    /// The result of a copy.
    struct Result {
        var events = 0
        var rows = 0
        /// The rows, or positions in a table, that could not be read.
        var unreadable = 0
        var sequence: Int64 = 0
    }

    /// Writes the copy into a new file.
    ///
    /// - Parameter path: the new file, under the lock of ``PartialFile``.
    /// - Throws: SQLite's error, or ``DamagedRow``.
    func write(to path: String) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            // An incomplete copy is useless, so it needs no journal.
            try database.execute(
                sql: "\(StoreSchema.pageSize); PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            return try StoreTables.transaction(in: database) { target in
                var result = Result()
                try StoreSchema.create(in: database)
                try copyEvents(target, &result)
                try copyNames(target, &result)
                try copyState(target, &result)
                result.sequence = max(result.sequence, (try? source.sequence()) ?? 0)
                if isSalvage { try copyConsumers(target, &result) }
                try target.setSequence(result.sequence)
                return result
            }
        }
    }

    /// Returns whether the source has a real table, rather than a view or a virtual table, with such stored columns.
    private func has(_ table: String, _ columns: String) throws -> Bool {
        let kind = try source.first("SELECT type, sql FROM sqlite_schema WHERE name = ?", [table]) {
            (try $0.text(0), try $0.text(1, atMost: 1 << 20))
        }
        guard let kind, kind.0 == "table", !kind.1.uppercased().hasPrefix("CREATE VIRTUAL") else { return false }
        var found: Set<String> = []
        try source.each("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", [table]) { row in
            found.insert(try row.text(0, atMost: 1 << 16))
            return true
        }
        return columns.split(separator: ",").allSatisfy { found.contains($0.trimmingCharacters(in: .whitespaces)) }
    }

    /// Checks that the source has a state table. A view or a module in its place could run code.
    func checkState() throws {
        guard try has("state", "namespace, key, value, sender, modified") else {
            throw DamagedRow(description: "it has no table \"state\"")
        }
    }

    /// Calls a closure with the source, and counts an error if errors are tolerated.
    private func attempt(_ result: inout Result, _ body: (inout Result) throws -> Void) throws {
        do {
            try body(&result)
        } catch {
            guard isSalvage else { throw error }
            result.unreadable += 1
        }
    }

    // MARK: - Tables

    private func copyEvents(_ target: StoreTables, _ result: inout Result) throws {
        var isThere = false
        try attempt(&result) { _ in isThere = try has("event", StoreRow.columns) }
        guard isThere else { return }
        var next: Int64 = 1
        var step: Int64 = 1
        var attempts = 0
        while next < Int64.max / 2, attempts < Self.maximumAttempts {
            do {
                try source.each("SELECT \(StoreRow.columns) FROM event WHERE number >= ? ORDER BY number", [next]) {
                    row in
                    let number = try row.integer(0)
                    // A damaged table may contain cycles.
                    guard number >= next, number < Int64.max / 2 else {
                        throw DamagedRow(description: "event \(number) is out of order")
                    }
                    next = number + 1
                    step = 1
                    guard let event = try? row.event() else {
                        result.unreadable += 1
                        return true
                    }
                    guard try target.addName(event.event.id, number) else { return true }
                    try target.insert(event)
                    result.events += 1
                    result.sequence = number
                    return true
                }
                return
            } catch {
                guard isSalvage else { throw error }
                // Continue after the damage, one or more pages further on.
                result.unreadable += 1
                attempts += 1
                next += step
                if attempts.isMultiple(of: 64) { step = min(step * 2, 1 << 60) }
            }
        }
    }

    private func copyNames(_ target: StoreTables, _ result: inout Result) throws {
        try attempt(&result) { result in
            guard try has("known", "number, id") else { return }
            var count = 0
            try source.each("SELECT number, id FROM known ORDER BY number") { row in
                count += 1
                guard let id = try? row.id(1), (1..<Int64.max / 2).contains(try row.integer(0)) else { return true }
                _ = try target.addName(id, try row.integer(0))
                result.sequence = max(result.sequence, try row.integer(0))
                return count < maximumRows
            }
        }
    }

    private func copyState(_ target: StoreTables, _ result: inout Result) throws {
        for change in addition {
            try target.insert(change, modified: 0)
            result.rows += 1
        }
        // Read from both ends, so that damage in the middle hides little.
        for order in isSalvage ? ["ASC", "DESC"] : ["ASC"] {
            try attempt(&result) { result in
                try checkState()
                var count = 0
                try source.each(
                    """
                    SELECT namespace, key, value, sender, modified FROM state ORDER BY namespace \(order), key \(order)
                    """
                ) { row in
                    count += 1
                    let change: StateChange
                    let modified: Int64
                    do {
                        change = StateChange(
                            namespace: try row.text(0), key: try row.text(1),
                            value: try row.data(2, atMost: StateChange.maximumValue), sender: try row.optionalText(3))
                        modified = try row.integer(4)
                    } catch {
                        guard isSalvage else { throw error }
                        result.unreadable += 1
                        return count < maximumRows
                    }
                    guard hasNamespace(change.namespace) else { return count < maximumRows }
                    try target.insert(change, modified: min(max(modified, 0), Timestamp.latest.milliseconds))
                    result.rows += target.database.changesCount
                    return count < maximumRows
                }
            }
        }
    }

    private func copyConsumers(_ target: StoreTables, _ result: inout Result) throws {
        var positions: [String: Int64] = [:]
        try attempt(&result) { _ in
            guard try has("consumer", "name, position") else { return }
            try source.each("SELECT name, position FROM consumer ORDER BY name LIMIT 1000") { row in
                if let name = try? row.text(0) { positions[name] = (try? row.integer(1)) ?? 0 }
                return true
            }
        }
        for (name, position) in positions.sorted(by: { $0.key < $1.key }) {
            // If its counts are damaged, the consumer continues without them.
            var consumer = ConsumerStatus(name: name)
            consumer.position = position
            try attempt(&result) { _ in consumer = try source.consumer(name) }
            consumer.position = min(max(consumer.position, 0), result.sequence)
            consumer.skips = consumer.skips.map { min(max($0, 0), result.sequence) }
            try copyRefused(of: name, target, &result)
            try target.write(consumer)
        }
    }

    private func copyRefused(of name: String, _ target: StoreTables, _ result: inout Result) throws {
        try attempt(&result) { result in
            let columns = "state, attempts, reason, refusedAt, \(StoreRow.columns)"
            guard try has("refused", "consumer, " + columns) else { return }
            try source.each(
                "SELECT \(columns) FROM refused WHERE consumer = ? ORDER BY number LIMIT ?", [name, maximumRows]
            ) {
                row in
                do {
                    let state = try row.count(0)
                    guard state <= 1 else { throw DamagedRow(description: "a dead letter is in state \(state)") }
                    try target.refuse(
                        try row.event(4), by: name, reason: try row.text(2, atMost: 1 << 16),
                        attempts: try row.count(1), at: min(max(try row.integer(3), 0), Timestamp.latest.milliseconds),
                        state: state)
                } catch let error as DamagedRow {
                    guard isSalvage else { throw error }
                    result.unreadable += 1
                }
                return true
            }
        }
    }
}
