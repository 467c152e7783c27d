import GRDB

/// A connection to a store's file, which others may close while someone waits for it.
///
/// GRDB hands a closed connection to SQLite, which ends the process then unless it was built with
/// `SQLITE_ENABLE_API_ARMOR`. Debian's was not.
struct StoreConnection: Sendable {
    /// The error of a call after the connection was closed.
    struct Closed: Error {}

    private let queue: DatabaseQueue

    init(_ path: String, _ configuration: Configuration) throws {
        var configuration = configuration
        // Else GRDB asks a closed connection for its transaction.
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Reads the file as it is at one moment.
    func read<Value: Sendable>(_ body: @Sendable (StoreTables) throws -> Value) async throws -> Value {
        try await queue.unsafeRead { try Self.read($0, body) }
    }

    /// Reads the file as it is at one moment, for callers that cannot suspend.
    func readBlocking<Value>(_ body: (StoreTables) throws -> Value) throws -> Value {
        try queue.unsafeRead { try Self.read($0, body) }
    }

    private static func read<Value>(_ database: Database, _ body: (StoreTables) throws -> Value) throws -> Value {
        guard database.sqliteConnection != nil else { throw Closed() }
        // What an error of the disk left behind.
        if database.isInsideTransaction { try database.rollback() }
        var value: Value?
        try database.inTransaction(.deferred) {
            value = try body(StoreTables(database))
            return .commit
        }
        guard let value else { throw Closed() }
        return value
    }

    /// Uses the connection as it is, without a transaction.
    func use<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.inDatabase { database in
            guard database.sqliteConnection != nil else { throw Closed() }
            return try body(database)
        }
    }

    /// Closes the connection, once those who use it now are done.
    func close() { try? queue.close() }

    /// Returns true for the same connection.
    func isSame(as other: StoreConnection) -> Bool { queue === other.queue }
}
