import Foundation
import GRDB

/// How an outbox's file is opened, and what is in it.
enum OutboxDatabase {
    /// The four characters SBOX, by which file(1) and we know the file (SQLite, PRAGMA application_id).
    static let applicationID: Int32 = 0x5342_4F58

    /// The version of the tables.
    static let version: Int32 = 1

    /// Opens a file that is there, or makes it.
    ///
    /// - Throws: SQLite's error, or ``OutboxError`` where the file is not an outbox.
    static func open(_ file: URL, maximumFileSize: Int? = nil) throws -> DatabaseQueue {
        var configuration = Configuration()
        // Somebody at a command line may be reading or editing beside us.
        configuration.busyMode = .timeout(5)
        configuration.label = "outbox"
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        do {
            try prepare(queue, file, maximumFileSize)
        } catch {
            try? queue.close()
            throw error
        }
        return queue
    }

    private static func prepare(_ queue: DatabaseQueue, _ file: URL, _ maximumFileSize: Int?) throws {
        try queue.inDatabase { database in
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            guard application == applicationID || (application == 0 && tables == 0) else {
                throw OutboxError(
                    .notOurs, "\(file.path) is a database of another program. Give the outbox a file of its own")
            }
            guard version <= Self.version else {
                throw OutboxError(
                    .notOurs,
                    "\(file.path) was written by a newer version of this program (\(version), where \(Self.version) is "
                        + "known). Run that one, or move the file aside")
            }
            // Writers do not wait for readers, and a commit is one write to the log (SQLite, "Write-Ahead Logging").
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // What is deleted is overwritten, so that a search for records in a damaged file does not bring them back.
            // On Debian it is so anyway.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            // After a burst the log is cut back to its usual 1000 pages.
            try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
            // 2 MB, whatever the size of the file.
            try database.execute(sql: "PRAGMA cache_size = -2000")
            if let maximumFileSize {
                let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
                try database.execute(sql: "PRAGMA max_page_count = \(max(maximumFileSize / max(pageSize, 512), 1))")
            }
            guard version < Self.version else { return }
            try database.inTransaction {
                try database.execute(sql: schema)
                try database.execute(
                    sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(Self.version)")
                return .commit
            }
        }
    }

    /// A notification is kept once, whatever the number of destinations. `delivery` has a row for each that it still has to
    /// go to, `parked` for each that refused it for good; with the last of them the notification goes.
    private static let schema = """
        CREATE TABLE IF NOT EXISTS notification (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id BLOB NOT NULL UNIQUE,
            addedAt INTEGER NOT NULL,
            record BLOB NOT NULL
        );
        CREATE TABLE IF NOT EXISTS destination (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            waiting INTEGER NOT NULL DEFAULT 0,
            waitingBytes INTEGER NOT NULL DEFAULT 0,
            parked INTEGER NOT NULL DEFAULT 0,
            appended INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0,
            retried INTEGER NOT NULL DEFAULT 0,
            refused INTEGER NOT NULL DEFAULT 0,
            droppedByAge INTEGER NOT NULL DEFAULT 0,
            droppedBySize INTEGER NOT NULL DEFAULT 0,
            droppedByHand INTEGER NOT NULL DEFAULT 0,
            superseded INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0,
            lastError TEXT,
            notBefore INTEGER
        );
        CREATE TABLE IF NOT EXISTS delivery (
            destination INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            isHeartbeat INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (destination, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS deliveryBySequence ON delivery (sequence);
        CREATE INDEX IF NOT EXISTS heartbeats ON delivery (destination, sequence) WHERE isHeartbeat;
        CREATE TABLE IF NOT EXISTS parked (
            destination INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            refusal TEXT NOT NULL,
            PRIMARY KEY (destination, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS parkedBySequence ON parked (sequence);
        """
}
