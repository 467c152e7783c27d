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
    var hasNamespace: (String) -> Bool = { _ in true }

    /// The values of the state to add to the copy.
    var addition: [StateChange] = []

    /// Whether to skip unreadable parts instead of failing, and to copy all mailboxes. Otherwise only those of hidden
    /// consumers are copied: notifications must not be sent by the copy as well.
    var isSalvage = false

    /// The result of a copy.
    struct Result {
        var events = 0
        var rows = 0
        /// The rows, or parts of a table, that could not be read.
        var unreadable = 0
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
                var sequence = (try? source.sequence()) ?? 0
                var unreadable = try copy("event AS e", StoreRow.columns, orderedBy: ["number"]) { row in
                    let event = try row.event()
                    guard try target.addName(event.event.id, event.number) else { return }
                    try target.insert(event)
                    sequence = max(sequence, event.number)
                    result.events += 1
                }
                unreadable += try copy("known", "id, number", orderedBy: ["id"]) { row in
                    let number = try row.integer(1)
                    guard (1..<Int64.max / 2).contains(number) else { return }
                    _ = try target.addName(try row.id(0), number)
                    sequence = max(sequence, number)
                }
                for change in addition { try target.insert(change, modified: 0) }
                result.rows += addition.count
                unreadable += try copy("state", Self.stateColumns, orderedBy: ["namespace", "key"]) { row in
                    let change = StateChange(
                        namespace: try row.text(0), key: try row.text(1),
                        value: try row.data(2, atMost: StateChange.maximumValue), sender: try row.optionalText(3))
                    let modified = min(max(try row.integer(4), 0), Timestamp.latest.milliseconds)
                    guard hasNamespace(change.namespace) else { return }
                    try target.insert(change, modified: modified)
                    result.rows += target.database.changesCount
                }
                try target.setSequence(sequence)
                result.unreadable = try unreadable + copyMailboxes(target)
                return result
            }
        }
    }

    private static let stateColumns = "namespace, key, value, sender, modified"

    /// Checks that the source has a state table. A view or a module in its place could run code.
    func checkState() throws { try check("state", Self.stateColumns) }

    /// Throws an error unless the source has a real table, rather than a view or a virtual table, with such stored
    /// columns.
    private func check(_ table: String, _ columns: String) throws {
        let kind = try source.first("SELECT type, sql FROM sqlite_schema WHERE name = ?", [table]) {
            (try $0.text(0), try $0.text(1, atMost: 1 << 20))
        }
        var found: Set<String> = []
        if let kind, kind.0 == "table", !kind.1.uppercased().hasPrefix("CREATE VIRTUAL") {
            try source.each("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", [table]) { row in
                found.insert(try row.text(0, atMost: 1 << 16))
                return true
            }
        }
        let names = columns.split(separator: ",").map { $0.split(separator: ".").last ?? $0 }
        guard names.allSatisfy({ found.contains($0.trimmingCharacters(in: .whitespaces)) }) else {
            throw DamagedRow(description: "it has no table \"\(table)\" of an event store")
        }
    }

    /// Reads a table in the order of its key, and hands on each row.
    ///
    /// In a damaged table it reads from both ends, so that damage in the middle hides little. A table with a number as
    /// its key is also read between, from a few numbers on: its damaged pages hide only themselves.
    ///
    /// - Returns: The number of rows, or of parts of the table, that could not be read.
    private func copy(
        _ source: String, _ columns: String, orderedBy key: [String], _ body: (StoreRow) throws -> Void
    ) throws -> Int {
        var unreadable = 0
        do {
            try check(String(source.split(separator: " ")[0]), columns)
        } catch {
            guard isSalvage else { throw error }
            return 1
        }
        let isNumbered = key == ["number"]
        var next = isSalvage ? 1 : Int64.min
        func read(_ order: String) throws {
            let keys = key.map { "\($0) \(order)" }.joined(separator: ", ")
            let start = isNumbered ? "WHERE number >= \(next)" : ""
            try self.source.each("SELECT \(columns) FROM \(source) \(start) ORDER BY \(keys)") { row in
                if isNumbered, let number = try? row.integer(0) {
                    // A damaged table may contain cycles.
                    guard number >= next, number < Int64.max / 2 else { throw DamagedRow(description: "a cycle") }
                    next = number + 1
                }
                do {
                    try body(row)
                } catch let error as DamagedRow {
                    guard isSalvage else { throw error }
                    unreadable += 1
                }
                return true
            }
        }
        guard isSalvage else {
            try read("ASC")
            return 0
        }
        for attempt in 0..<(isNumbered ? 10_000 : 2) {
            do {
                try read(isNumbered || attempt == 0 ? "ASC" : "DESC")
                break
            } catch {
                (unreadable, next) = (unreadable + 1, next + 1)
            }
        }
        return unreadable
    }

    /// Copies consumers with their mailboxes. A mailbox whose consumer's row is lost is paused until the consumer is
    /// added again, so that it gets no event of the past.
    private func copyMailboxes(_ target: StoreTables) throws -> Int {
        var consumers: [ConsumerStatus] = []
        func add(_ consumer: ConsumerStatus) throws {
            guard isSalvage || consumer.isHidden,
                !consumers.contains(where: { $0.name == consumer.name || $0.slot == consumer.slot })
            else { return }
            consumers.append(consumer)
            try consumer.write(target)
        }
        var unreadable = try copy("destination", ConsumerStatus.columns, orderedBy: ["name"]) { row in
            var consumer = try ConsumerStatus(row)
            consumer.name = consumer.name.canonical
            try add(consumer)
        }
        if isSalvage {
            let index = "destination INDEXED BY destinationBySlot"
            unreadable += try copy(index, "name, slot", orderedBy: ["slot"]) { row in
                var consumer = ConsumerStatus(name: try row.text(0).canonical)
                (consumer.slot, consumer.isActive) = (try row.count(1), false)
                try add(consumer)
            }
        }
        let columns = "state, number, bank, destinations, since, attempts, reason, body"
        return try unreadable
            + copy("delivery", columns, orderedBy: ["state", "number", "bank", "destinations"]) { row in
                let (state, bank, set) = (try row.count(0), try row.count(2), try row.integer(3))
                guard MailState.all.contains(state) else {
                    throw DamagedRow(description: "a delivery is in state \(state)")
                }
                let known = consumers.reduce(0) { $1.bank == bank ? $0 | $1.bit : $0 }
                let values: [(any DatabaseValueConvertible)?] = [
                    state, try row.integer(1), bank, set & known, try row.optionalData(7, atMost: Event.maximumBody),
                    try row.optionalInteger(4).map { min(max($0, 0), Timestamp.latest.milliseconds) },
                    try row.count(5), try row.optionalText(6, atMost: 1 << 16),
                ]
                if set & known != 0 {
                    try target.run(
                        """
                        INSERT INTO delivery SELECT ?1, number, ?3, ?4, priority, \
                        length(coalesce(?5, body)) + \(Event.overhead), ?6, ?7, ?8, ?5 FROM event \
                        WHERE number = ?2 AND NOT EXISTS (SELECT 1 FROM delivery \
                        WHERE state IN (0, 1, 2) AND number = ?2 AND bank = ?3 AND destinations & ?4)
                        """, StatementArguments(values))
                }
                if isSalvage, set & ~known != 0 {
                    throw DamagedRow(description: "an event waits for an unknown destination")
                }
            }
    }
}
