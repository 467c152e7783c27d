import BeaconModel
import Foundation
import GRDB

/// A consumer's row. The numeric columns are declared once, for the schema, for reading and for writing.
extension ConsumerStatus {
    private typealias Column<Value> = (name: String, path: any WritableKeyPath<ConsumerStatus, Value> & Sendable)

    /// The numbers of events.
    private static let numbers: [Column<Int64>] = [
        ("position", \.position), ("skip0", \.skips[0]), ("skip1", \.skips[1]), ("skip2", \.skips[2]),
        ("skip3", \.skips[3]),
    ]

    /// The counts, which are never negative.
    private static let counts: [Column<Int>] = [
        ("waiting0", \.pending[0].count), ("waiting1", \.pending[1].count), ("waiting2", \.pending[2].count),
        ("waiting3", \.pending[3].count), ("bytes0", \.pending[0].bytes), ("bytes1", \.pending[1].bytes),
        ("bytes2", \.pending[2].bytes), ("bytes3", \.pending[3].bytes), ("due", \.due.count),
        ("dueBytes", \.due.bytes), ("deadLetters", \.deadLetters), ("appended", \.appended),
        ("handled", \.handled), ("retried", \.retried), ("refused", \.refused), ("droppedByAge", \.droppedByAge),
        ("droppedBySize", \.droppedBySize), ("droppedByFilter", \.droppedByFilter),
        ("droppedByHand", \.droppedOnRequest), ("superseded", \.superseded), ("failures", \.failures),
    ]

    /// The optional numbers. Times are in milliseconds since 1970.
    private static let optionals: [Column<Int64?>] = [
        ("pausedFrom", \.pausedFrom), ("pausedThrough", \.pausedThrough), ("failingSince", \.failing),
        ("nextAttempt", \.next),
    ]

    private var failing: Int64? {
        get { failingSince?.milliseconds }
        set { failingSince = newValue.map { Timestamp(milliseconds: $0) } }
    }

    private var next: Int64? {
        get { nextAttempt?.milliseconds }
        set { nextAttempt = newValue.map { Timestamp(milliseconds: $0) } }
    }

    /// The statement that creates the table.
    static let schema = """
        CREATE TABLE consumer (name TEXT PRIMARY KEY, filter BLOB NOT NULL, lastError TEXT, removed TEXT, \
        \((numbers.map(\.name) + counts.map(\.name)).map { "\($0) INTEGER NOT NULL, " }.joined())\
        \(optionals.map { "\($0.name) INTEGER" }.joined(separator: ", "))) WITHOUT ROWID
        """

    private static let names =
        ["name", "filter", "lastError", "removed"] + numbers.map(\.name) + counts.map(\.name) + optionals.map(\.name)
    fileprivate static let columns = names.joined(separator: ", ")
    fileprivate static let marks = StoreTables.marks(names.count)

    /// Reads a row of ``columns``.
    fileprivate init(_ row: StoreRow) throws {
        self.init(name: try row.text(0))
        try setFilter(try row.data(1, atMost: 1 << 24))
        lastError = try row.optionalText(2, atMost: 1 << 16)
        let removed = try row.optionalText(3, atMost: 1 << 24) ?? ""
        self.removed = Set(removed.split(separator: ",").compactMap { Int64($0) })
        var column = 4
        func read<Value>(_ columns: [Column<Value>], _ value: (Int) throws -> Value) throws {
            for (_, path) in columns {
                self[keyPath: path] = try value(column)
                column += 1
            }
        }
        try read(Self.numbers, row.integer)
        try read(Self.counts, row.count)
        try read(Self.optionals, row.optionalInteger)
    }

    /// The values of ``columns``.
    fileprivate var row: StatementArguments {
        let removed = removed.sorted().map(String.init).joined(separator: ",")
        var values: [(any DatabaseValueConvertible)?] = [name, filterData, lastError, removed.isEmpty ? nil : removed]
        for (_, path) in Self.numbers { values.append(self[keyPath: path]) }
        for (_, path) in Self.counts { values.append(self[keyPath: path]) }
        for (_, path) in Self.optionals { values.append(self[keyPath: path]) }
        return StatementArguments(values)
    }

    /// Counts the waiting events after the position.
    mutating func recount(_ tables: StoreTables, through newest: Int64) throws {
        pending = try amounts(tables, through: newest, where: selects)
    }

    /// Returns the amounts of waiting events after the position, by priority. SQLite counts them, because reading a
    /// large number of events takes seconds, which would also delay a start.
    ///
    /// - Parameters:
    ///   - tables: the file.
    ///   - newest: the number of the last event to count.
    ///   - isCounted: returns whether to count events of a kind, a region and an audience.
    func amounts(
        _ tables: StoreTables, through newest: Int64, where isCounted: (String, String?, [String]?) -> Bool
    ) throws -> [Amount] {
        var amounts = ConsumerStatus.nothing
        // The same rule as in ``isAhead(_:_:)``.
        try tables.each(
            """
            SELECT priority, kind, region, audience, count(*), sum(\(Event.sizeSQL)) FROM event
            WHERE number > ?1 AND number <= ?2
                AND number > CASE priority WHEN 0 THEN ?3 WHEN 1 THEN ?4 WHEN 2 THEN ?5 ELSE ?6 END
                AND NOT (number > ?7 AND number <= ?8) AND number NOT IN (SELECT value FROM json_each(?9))
                AND \(StoreRow.isReadable)
            GROUP BY priority, kind, region, audience
            """,
            [
                position, newest, skips[0], skips[1], skips[2], skips[3], pausedFrom ?? .max, pausedThrough ?? .max,
                "[\(removed.map(String.init).joined(separator: ","))]",
            ]
        ) { row in
            if isCounted(try row.text(1), try row.optionalText(2), try row.audience(3)) {
                amounts[try row.count(0)] += Amount(count: try row.count(4), bytes: try row.count(5))
            }
            return true
        }
        return amounts
    }

    /// Counts the dead letters, and the events that are due out of order: addressed ones and retried ones.
    mutating func recountRefused(_ tables: StoreTables) throws {
        (deadLetters, due) = (0, Amount())
        try tables.each(
            """
            SELECT state, count(*), sum(\(Event.sizeSQL)) FROM refused
            WHERE consumer = ? GROUP BY state
            """, [name]
        ) { row in
            let amount = Amount(count: try row.count(1), bytes: try row.count(2))
            if try row.integer(0) == 0 { deadLetters = amount.count } else { due = amount }
            return true
        }
    }
}

extension StoreTables {
    /// Reads consumers, by name.
    func consumers() throws -> [ConsumerStatus] {
        var consumers: [ConsumerStatus] = []
        try each("SELECT \(ConsumerStatus.columns) FROM consumer ORDER BY name") { row in
            consumers.append(try ConsumerStatus(row))
            return true
        }
        return consumers
    }

    /// Reads a consumer.
    ///
    /// - Throws: `unknownConsumer` if it does not exist.
    func consumer(_ name: String) throws -> ConsumerStatus {
        let found = try first("SELECT \(ConsumerStatus.columns) FROM consumer WHERE name = ?", [name]) {
            try ConsumerStatus($0)
        }
        guard let found else { throw EventStoreError.unknown(name, beside: try consumers()) }
        return found
    }

    /// Writes a consumer's row.
    func write(_ consumer: ConsumerStatus) throws {
        try run(
            "INSERT OR REPLACE INTO consumer (\(ConsumerStatus.columns)) VALUES (\(ConsumerStatus.marks))",
            consumer.row)
    }

    /// Returns a consumer's next events: due dead letters if there are any, otherwise the events after its position.
    ///
    /// - Parameters:
    ///   - consumer: the consumer.
    ///   - limit: the maximum number of events.
    ///   - examined: a number up to which no event is for the consumer.
    /// - Returns: The batch, which may be empty, and the number of unreadable events.
    func nextBatch(
        of consumer: ConsumerStatus, limit: Int, after examined: Int64
    ) throws -> (batch: EventBatch, damaged: Int) {
        var events: [StoredEvent] = []
        func batch(isOutOfOrder: Bool, through: Int64) -> EventBatch {
            EventBatch(
                consumer: consumer.name, events: events, isOutOfOrder: isOutOfOrder, from: consumer.position,
                through: through, filter: consumer.filter)
        }
        if consumer.due.count > 0 {
            try each(
                "SELECT \(StoreRow.columns) FROM refused WHERE consumer = ? AND state = 1 ORDER BY number LIMIT ?",
                [consumer.name, limit]
            ) { row in
                events.append(try row.event())
                return true
            }
            if !events.isEmpty { return (batch(isOutOfOrder: true, through: consumer.position), 0) }
        }
        var (through, damaged) = (consumer.position, 0)
        try self.events("number > ?", [max(consumer.position, examined)]) { event in
            guard let event else {
                damaged += 1
                return true
            }
            through = event.number
            if consumer.wants(event) { events.append(event) }
            return events.count < limit
        }
        return (batch(isOutOfOrder: false, through: through), damaged)
    }

    /// Returns the dead letters of a consumer, oldest first.
    func refused(by name: String, limit: Int) throws -> [RefusedEvent] {
        var entries: [RefusedEvent] = []
        try each(
            """
            SELECT attempts, reason, refusedAt, \(StoreRow.columns) FROM refused
            WHERE consumer = ? AND state = 0 ORDER BY number LIMIT ?
            """, [name, limit]
        ) { row in
            guard let event = try? row.event(3) else { return true }
            entries.append(
                RefusedEvent(
                    event: event, reason: try row.text(1, atMost: 1 << 16), attempts: try row.count(0),
                    time: Timestamp(milliseconds: try row.integer(2))))
            return true
        }
        return entries
    }
}

extension EventStoreError {
    /// Returns the error for an unknown consumer.
    static func unknown(_ name: String, beside consumers: [ConsumerStatus]) -> EventStoreError {
        let names = consumers.filter { !$0.isHidden }.map(\.name)
        let known = names.isEmpty ? "" : "; it has \(names.joined(separator: ", "))"
        return EventStoreError(.unknownConsumer, "the event store has no consumer \"\(name)\"\(known)")
    }
}
