import BeaconModel
import Foundation
import GRDB

/// The error for a value whose type or size does not match its column.
struct DamagedRow: Error, CustomStringConvertible {
    var description: String
}

/// A row that checks the type and size of each value. Bytes on a disk can be anything, and GRDB's own conversions trap.
struct StoreRow {
    private let row: Row

    init(_ row: Row) { self.row = row }

    private func damage(_ column: Int, _ type: String) -> DamagedRow {
        DamagedRow(description: "a value in column \(column) is not a \(type)")
    }

    private func storage(_ column: Int) throws -> DatabaseValue.Storage {
        guard column < row.count else { throw damage(column, "value at all") }
        let value: DatabaseValue = row[column]
        return value.storage
    }

    func integer(_ column: Int) throws -> Int64 {
        guard case .int64(let value) = try storage(column) else { throw damage(column, "whole number") }
        return value
    }

    func optionalInteger(_ column: Int) throws -> Int64? {
        switch try storage(column) {
        case .null: nil
        case .int64(let value): value
        default: throw damage(column, "whole number")
        }
    }

    /// The largest count: a few of them can be added.
    static let maximumCount = Int.max / 8

    func count(_ column: Int) throws -> Int {
        guard let value = Int(exactly: try integer(column)), (0...Self.maximumCount).contains(value) else {
            throw damage(column, "count")
        }
        return value
    }

    func text(_ column: Int, atMost limit: Int = Event.maximumText) throws -> String {
        guard case .string(let value) = try storage(column), value.utf8.count <= limit else {
            throw damage(column, "text of at most \(limit) bytes")
        }
        return value
    }

    func optionalText(_ column: Int, atMost limit: Int = Event.maximumText) throws -> String? {
        if case .null = try storage(column) { return nil }
        return try text(column, atMost: limit)
    }

    func data(_ column: Int, atMost limit: Int) throws -> Data {
        guard case .blob(let value) = try storage(column), value.count <= limit else {
            throw damage(column, "block of at most \(limit) bytes")
        }
        return value
    }

    func optionalData(_ column: Int, atMost limit: Int) throws -> Data? {
        if case .null = try storage(column) { return nil }
        return try data(column, atMost: limit)
    }

    func id(_ column: Int) throws -> EventID {
        guard let id = EventID(bytes: try data(column, atMost: 16)) else { throw damage(column, "UUID") }
        return id
    }

    /// The columns of ``event(_:)``, in a search that calls the table `e`.
    static let columns = """
        e.number, e.id, e.time, e.arrival, e.kind, e.priority, e.region, e.place, e.beacon, e.receiver, e.sender, \
        e.install, e.audience, e.body, e.private
        """

    func priority(_ column: Int) throws -> Event.Priority {
        let value = try integer(column)
        guard (0..<Int64(Event.Priority.count)).contains(value) else { throw damage(column, "priority") }
        return Event.Priority(UInt8(value))
    }

    private static let audienceLimit = Event.maximumAudience * (Event.maximumText + 1)

    /// Reads the names of an event's consumers; nil for all.
    func audience(_ column: Int) throws -> [String]? {
        try optionalText(column, atMost: Self.audienceLimit).map {
            $0.isEmpty ? [] : $0.components(separatedBy: "\n")
        }
    }

    /// Reads an event whose columns begin at an index of the row.
    func event(_ first: Int = 0) throws -> StoredEvent {
        let number = try integer(first)
        guard number > 0 else { throw damage(first, "number of an event") }
        var event = Event(
            id: try id(first + 1), time: Timestamp(nanoseconds: try integer(first + 2)), kind: try text(first + 4),
            priority: try priority(first + 5), body: try data(first + 13, atMost: Event.maximumBody))
        event.region = try optionalText(first + 6)
        event.place = try optionalText(first + 7)
        if let bytes = try optionalData(first + 8, atMost: 20) {
            guard let beacon = BeaconIdentity(bytes: bytes) else { throw damage(first + 8, "beacon") }
            event.beacon = beacon
        }
        event.receiver = try optionalText(first + 9)
        event.sender = try optionalText(first + 10)
        event.install = try optionalText(first + 11)
        event.audience = try audience(first + 12)
        event.private = try data(first + 14, atMost: Event.maximumBody)
        return StoredEvent(
            number: number, arrival: Timestamp(milliseconds: try integer(first + 3)), event: event)
    }
}

/// The store's tables, during one access to its database.
struct StoreTables {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// Runs a closure in one transaction. If it throws an error, nothing is written.
    static func transaction<Value>(in database: Database, _ body: (StoreTables) throws -> Value) throws -> Value {
        var value: Value?
        try database.inTransaction(.immediate) {
            value = try body(StoreTables(database))
            return .commit
        }
        guard let value else { throw EventStoreError(.cannotWrite, "nothing was written") }
        return value
    }

    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try statement(sql, arguments).execute()
    }

    /// Returns a statement from the cache. It omits GRDB's check of the number of arguments, which costs more than some
    /// statements.
    private func statement(_ sql: String, _ arguments: StatementArguments) throws -> Statement {
        let statement = try database.cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        return statement
    }

    /// Returns the value of a query's first row; nil if the query has no rows.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ read: (StoreRow) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(try statement(sql, arguments))
        guard let row = try rows.next() else { return nil }
        let value = try read(StoreRow(row))
        // Read to the end, so that the statement is reset and releases its lock.
        while try rows.next() != nil {}
        return value
    }

    /// Calls `body` with each row of a query until it returns false.
    func each(
        _ sql: String, _ arguments: StatementArguments = [], _ body: (StoreRow) throws -> Bool
    ) throws {
        let rows = try Row.fetchCursor(try statement(sql, arguments))
        while let row = try rows.next(), try body(StoreRow(row)) {}
    }

    /// Returns the highest number ever assigned to an event, including deleted events.
    func sequence() throws -> Int64 {
        let number = try first("SELECT seq FROM sqlite_sequence WHERE name = 'event'") { try $0.integer(0) } ?? 0
        // 2^62 events take longer than a disk lasts. A number near the limit could not be incremented.
        guard (0...Int64.max / 2).contains(number) else { throw DamagedRow(description: "the sequence is \(number)") }
        return number
    }

    /// Returns placeholders for a number of arguments.
    static func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

    /// Sets the number of the newest event.
    func setSequence(_ number: Int64) throws {
        try run("DELETE FROM sqlite_sequence WHERE name = 'event'")
        try run("INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", [number])
    }

    /// Inserts an event.
    func insert(_ event: StoredEvent) throws {
        try run("INSERT INTO event VALUES (\(Self.marks(15)))", event.row)
    }

    /// Adds the id of an event.
    ///
    /// - Returns: False if the id is already known.
    func addName(_ id: EventID, _ number: Int64) throws -> Bool {
        try run("INSERT OR IGNORE INTO known (id, number) VALUES (?, ?)", [id.bytes, number])
        return database.changesCount > 0
    }

    /// Inserts a value of the state that has no row yet.
    func insert(_ change: StateChange, modified: Int64) throws {
        try run(
            "INSERT OR IGNORE INTO state (namespace, key, value, sender, modified) VALUES (?, ?, ?, ?, ?)",
            [change.namespace, change.key, change.value, change.sender, modified])
    }

    /// Calls `body` with each event that matches a condition, in order, until it returns false. For an unreadable event
    /// it passes nil.
    func events(
        _ condition: String, _ arguments: StatementArguments, limit: Int = -1, _ body: (StoredEvent?) throws -> Bool
    ) throws {
        try each(
            "SELECT \(StoreRow.columns) FROM event AS e WHERE \(condition) ORDER BY number LIMIT \(limit)", arguments
        ) { try body(try? $0.event()) }
    }
}

extension StoredEvent {
    /// The values of ``StoreRow/columns``.
    var row: StatementArguments {
        [
            number, event.id.bytes, event.time.nanoseconds, arrival.milliseconds, event.kind,
            Int64(event.priority.rawValue), event.region, event.place, event.beacon?.bytes, event.receiver,
            event.sender, event.install, event.audience?.joined(separator: "\n"),
            event.body, event.private,
        ]
    }
}

extension EventID {
    /// The id as the key of a row.
    var bytes: Data { withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { Data($0) } }

    /// Creates an id from the key of a row; nil unless it has 16 bytes.
    init?(bytes: Data) {
        guard bytes.count == 16 else { return nil }
        self.init(ProximityUUID(high: bytes.bigEndian(0, 8), low: bytes.bigEndian(8, 8)))
    }
}

extension BeaconIdentity {
    /// The identity in its over-the-air form: 16 bytes of UUID, 2 of major and 2 of minor.
    var bytes: Data {
        withUnsafeBytes(of: (uuid.high.bigEndian, uuid.low.bigEndian)) { Data($0) }
            + withUnsafeBytes(of: (major.bigEndian, minor.bigEndian)) { Data($0) }
    }

    /// Creates an identity from its bytes; nil unless there are 20.
    init?(bytes: Data) {
        guard bytes.count == 20 else { return nil }
        self.init(
            uuid: ProximityUUID(high: bytes.bigEndian(0, 8), low: bytes.bigEndian(8, 8)),
            major: UInt16(truncatingIfNeeded: bytes.bigEndian(16, 2)),
            minor: UInt16(truncatingIfNeeded: bytes.bigEndian(18, 2)))
    }
}

extension Data {
    func bigEndian(_ offset: Int, _ count: Int) -> UInt64 {
        dropFirst(offset).prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
