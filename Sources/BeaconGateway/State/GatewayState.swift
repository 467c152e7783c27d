import BeaconSupport
import Foundation
import GRDB
import Logging

/// The state beside the configuration and the presence: items and sessions of the console, installs with their
/// messages, and runs of rules.
///
/// Each change is on the disk when its call returns, even if the process is killed or the power fails then. A damaged
/// file is set aside and reported, and a new one takes its place.
final class GatewayState: Sendable {
    /// The inside of a transaction.
    typealias Access = Database

    let file: StateFile
    let logger: Logger
    /// The number of changes of what is configured in the console.
    let revision = Locked(0)
    /// Signals that there are messages for installs.
    let messages = AsyncSignal()

    /// The state beside an outbox. Nothing is opened before it is used.
    init(besideOutbox path: String, logger: Logger) {
        file = StateFile(Self.file(besideOutbox: path), .state, logger: logger)
        self.logger = logger
    }

    /// Returns the path of the file beside an outbox.
    static func file(besideOutbox path: String) -> URL {
        URL(fileURLWithPath: path).appendingPathExtension("state.sqlite")
    }

    /// Changes something, in one transaction. It is made though the task that asks is cancelled: the last states are
    /// saved while everything ends.
    ///
    /// - Throws: what `change` throws, and SQLite's error where the disk cannot be written; nothing has changed then.
    @discardableResult
    func write<Value: Sendable>(_ change: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        // GRDB ends what a cancelled task asks for.
        try await Task { try await transact(change) }.value
    }

    private func transact<Value: Sendable>(
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let database = try file.opened()
        do {
            return try await database.write(change)
        } catch {
            guard try file.replace(database, ifDamagedBy: error) else { throw error }
            return try await file.opened().write(change)
        }
    }

    /// Reads something.
    ///
    /// - Throws: what `read` throws, and SQLite's error where the disk cannot be read.
    func read<Value: Sendable>(_ read: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let database = try file.opened()
        do {
            return try await database.read(read)
        } catch {
            guard try file.replace(database, ifDamagedBy: error) else { throw error }
            return try await file.opened().read(read)
        }
    }

    /// Closes the file.
    func close() { file.close() }

    // MARK: - Single values

    /// The key of a single value.
    enum Key: String, Sendable {
        /// What this machine sends as a beacon.
        case advertising
        /// The plan of the building, and its picture.
        case plan, planPicture
        /// The number of the last event from elsewhere that was worked through.
        case workedThrough
        /// The number up to which events from elsewhere are worked through again for people alone, after a loss.
        case rebuiltUntil
        /// The rules that were switched off or on, by name.
        case switches
    }

    /// Returns the value of a key; nil where there is none.
    func value(of key: Key) async throws -> Data? {
        try await read { try Self.value(of: key, in: $0) }
    }

    /// Sets the value of a key; nil removes it.
    func set(_ key: Key, to value: Data?) async throws { try await write { try Self.set(key, to: value, in: $0) } }

    static func value(of key: Key, in database: Database) throws -> Data? {
        try Data.fetchOne(database, sql: "SELECT value FROM setting WHERE key = ?", arguments: [key.rawValue])
    }

    static func set(_ key: Key, to value: Data?, in database: Database) throws {
        if let value {
            try database.execute(
                sql: "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", arguments: [key.rawValue, value])
        } else {
            try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key.rawValue])
        }
    }
}

extension StateFile.Kind {
    /// The state.
    static let state = StateFile.Kind(title: "the state", applicationID: 0x5342_5354, isSynced: true) {
        var migrator = DatabaseMigrator()
        // By the name that it had in earlier checkouts, whose files stay in use.
        migrator.registerMigration("presence, settings, people, rules") { database in
            // A backup cannot bring values of other types.
            try database.execute(
                sql: """
                    CREATE TABLE setting (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
                    CREATE TABLE item (
                        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
                        UNIQUE (kind, name)
                    ) STRICT;

                    CREATE TABLE session (hash TEXT PRIMARY KEY, token TEXT, time INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                    CREATE TABLE code (hash TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID, STRICT;

                    CREATE TABLE app (
                        name TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, secret TEXT NOT NULL
                    ) WITHOUT ROWID, STRICT;
                    CREATE TABLE install (
                        id TEXT PRIMARY KEY, app TEXT NOT NULL, user TEXT, first INTEGER NOT NULL, last INTEGER NOT NULL,
                        events INTEGER NOT NULL
                    ) WITHOUT ROWID, STRICT;
                    CREATE INDEX installByLast ON install (last);
                    CREATE INDEX installByUser ON install (app, user);
                    CREATE INDEX installByApp ON install (app, last DESC, id);
                    CREATE TABLE person (
                        app TEXT NOT NULL, user TEXT NOT NULL, attributes TEXT NOT NULL, PRIMARY KEY (app, user)
                    ) WITHOUT ROWID, STRICT;
                    CREATE TABLE message (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, install TEXT NOT NULL,
                        time INTEGER NOT NULL, title TEXT, text TEXT NOT NULL, url TEXT, rule TEXT, taken INTEGER
                    ) STRICT;
                    CREATE INDEX messageByInstall ON message (install, number);

                    CREATE TABLE run (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, rule TEXT NOT NULL,
                        event INTEGER, summary TEXT NOT NULL, person TEXT, action TEXT NOT NULL, outcome TEXT NOT NULL,
                        detail TEXT
                    ) STRICT;
                    CREATE INDEX runByRule ON run (rule, number);
                    CREATE TABLE firing (
                        rule TEXT NOT NULL, person TEXT NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (rule, person)
                    ) WITHOUT ROWID, STRICT;
                    """)
        }
        return migrator
    }
}
