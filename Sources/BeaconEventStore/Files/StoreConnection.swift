import GRDB

/// A connection to a store's file that may be closed while a caller waits for it.
///
/// GRDB passes a closed connection to SQLite, which then ends the process unless it was built with
/// `SQLITE_ENABLE_API_ARMOR`. Debian's SQLite was not.
struct StoreConnection: Sendable {
    /// The error of a call after the connection was closed.
    struct Closed: Error {}

    private let queue: DatabaseQueue

    init(_ path: String, _ configuration: Configuration) throws {
        var configuration = configuration
        // Otherwise GRDB queries a closed connection for its transaction.
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Reads a consistent snapshot of the file.
    func read<Value: Sendable>(_ body: @Sendable (StoreTables) throws -> Value) async throws -> Value {
        try await queue.unsafeRead { try Self.read($0, body) }
    }

    /// Reads a consistent snapshot of the file, for callers that cannot suspend.
    func readBlocking<Value>(_ body: (StoreTables) throws -> Value) throws -> Value {
        try queue.unsafeRead { try Self.read($0, body) }
    }

    private static func read<Value>(_ database: Database, _ body: (StoreTables) throws -> Value) throws -> Value {
        guard database.sqliteConnection != nil else { throw Closed() }
        // An error of the disk may have left a transaction open.
        if database.isInsideTransaction { try database.rollback() }
        var value: Value?
        try database.inTransaction(.deferred) {
            value = try body(StoreTables(database))
            return .commit
        }
        guard let value else { throw Closed() }
        return value
    }

    /// Uses the connection directly, without a transaction.
    func use<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.inDatabase { database in
            guard database.sqliteConnection != nil else { throw Closed() }
            return try body(database)
        }
    }

    /// Closes the connection, after its current users are done.
    func close() { try? queue.close() }

    /// Returns whether the other one is the same connection.
    func isSame(as other: StoreConnection) -> Bool { queue === other.queue }
}
