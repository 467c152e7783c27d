import BeaconSupport
import CLibrary
import Foundation
import GRDB

/// An outbox's file: its format, and how it is opened.
enum OutboxDatabase {
    /// The four characters SBOX, which identify the file to file(1) and to this module (SQLite, PRAGMA application_id).
    static let applicationID: Int32 = 0x5342_4F58

    /// The version of the tables. In version 1 dead letters were called parked; version 2 did not know since when a
    /// destination fails, nor what may be dropped first; version 3 did not know the boot, nor which dead letters
    /// may be dropped first.
    static let version: Int32 = 4

    /// Opens a file, and creates its tables where there are none.
    ///
    /// - Throws: SQLite's error, or ``OutboxError`` where the file is not an outbox.
    static func open(_ file: URL, maximumFileSize: Int? = nil) throws -> DatabaseQueue {
        var configuration = Configuration()
        // `beacond outbox` may be reading or editing the file at the same time.
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
            // What is deleted is overwritten, so that a search for records in a damaged file does not bring it back. On
            // Debian that is the default.
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
                if version == 1 {
                    try database.execute(
                        sql: """
                            ALTER TABLE parked RENAME TO deadLetter;
                            ALTER TABLE destination RENAME COLUMN parked TO deadLetters;
                            DROP INDEX parkedBySequence;
                            """)
                }
                if version == 1 || version == 2 {
                    try database.execute(
                        sql: """
                            ALTER TABLE destination ADD COLUMN droppedBySettings INTEGER NOT NULL DEFAULT 0;
                            ALTER TABLE destination ADD COLUMN failingSince INTEGER;
                            ALTER TABLE delivery ADD COLUMN isRepeated INTEGER NOT NULL DEFAULT 0;
                            """)
                }
                if 1...3 ~= version {
                    try database.execute(
                        sql: "ALTER TABLE deadLetter ADD COLUMN isRepeated INTEGER NOT NULL DEFAULT 0")
                }
                try database.execute(sql: schema)
                try database.execute(
                    sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(Self.version)")
                return .commit
            }
        }
    }

    /// `boot` has one row: the boot in which the newest notifications were added, the milliseconds by which the wall
    /// clock was ahead of its clock, and the first notification of it.
    ///
    /// A notification is stored once, whatever the number of destinations. `delivery` has a row for each destination
    /// that it waits for, `deadLetter` for each that refused it for good; the notification is deleted with the last of
    /// them.
    private static let schema = """
        CREATE TABLE IF NOT EXISTS notification (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id BLOB NOT NULL UNIQUE,
            addedAt INTEGER NOT NULL,
            record BLOB NOT NULL
        );
        CREATE TABLE IF NOT EXISTS boot (
            id TEXT NOT NULL,
            lead INTEGER NOT NULL,
            firstSequence INTEGER NOT NULL
        );
        CREATE TABLE IF NOT EXISTS destination (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            waiting INTEGER NOT NULL DEFAULT 0,
            waitingBytes INTEGER NOT NULL DEFAULT 0,
            deadLetters INTEGER NOT NULL DEFAULT 0,
            appended INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0,
            retried INTEGER NOT NULL DEFAULT 0,
            refused INTEGER NOT NULL DEFAULT 0,
            droppedByAge INTEGER NOT NULL DEFAULT 0,
            droppedBySize INTEGER NOT NULL DEFAULT 0,
            droppedByHand INTEGER NOT NULL DEFAULT 0,
            droppedBySettings INTEGER NOT NULL DEFAULT 0,
            superseded INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0,
            failingSince INTEGER,
            lastError TEXT,
            notBefore INTEGER
        );
        CREATE TABLE IF NOT EXISTS delivery (
            destination INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            isHeartbeat INTEGER NOT NULL,
            isRepeated INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (destination, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS deliveryBySequence ON delivery (sequence);
        CREATE INDEX IF NOT EXISTS heartbeats ON delivery (destination, sequence) WHERE isHeartbeat;
        CREATE INDEX IF NOT EXISTS repeated ON delivery (destination, sequence) WHERE isRepeated;
        CREATE TABLE IF NOT EXISTS deadLetter (
            destination INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            refusal TEXT NOT NULL,
            isRepeated INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (destination, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS deadLetterBySequence ON deadLetter (sequence);
        """
}

/// The lock by which one process at a time delivers from a file. It is on a file beside it, and the system releases it
/// when the process ends, however it ends (flock(2)).
final class OutboxLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `inUse` where another holder has it, `cannotOpen` where the file cannot be created.
    init(for file: URL) throws(OutboxError) {
        let path = file.path + ".lock"
        // The service can take a lock that root made. Where the file cannot be made, opening it says why.
        try? AtomicFile.make(path)
        // Through no link: what it leads to would lose its content.
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw OutboxError(
                .cannotOpen,
                "\(path) cannot be created: \(String(cString: strerror(errno))). Check that the folder exists and that this "
                    + "user may write there")
        }
        var attempts = Self.attempts
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // A process that was killed while it started a program leaves the lock to that for a moment, between fork
            // and exec.
            if errno == EINTR { continue }
            if attempts > 0, Self.isHolderGone(descriptor) {
                attempts -= 1
                usleep(Self.pause)
                continue
            }
            let holder = Self.holder(descriptor)
            // The descriptor is closed by `deinit`, which runs for an object that is complete. A second close could hit
            // another file of the same number.
            throw OutboxError(
                .inUse,
                "\(file.path) is in use by \(holder). Two at a time would deliver everything twice. End the other, or "
                    + "give this one a file of its own")
        }
        ftruncate(descriptor, 0)
        let text = "\(getpid())\n"
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit {
        // A child of this process between fork and exec would still hold the lock if the file were only closed.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// How often the lock of a process that has ended is tried again, and the microseconds between: ten seconds in all,
    /// for a busy machine.
    private static let attempts = 500
    private static let pause: UInt32 = 20_000

    private static func isHolderGone(_ descriptor: Int32) -> Bool {
        guard let pid = pid(descriptor) else { return false }
        return kill(pid, 0) != 0 && errno == ESRCH
    }

    private static func pid(_ descriptor: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        return pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func holder(_ descriptor: Int32) -> String {
        guard let pid = pid(descriptor) else { return "another process" }
        return pid == getpid() ? "another part of this process" : "process \(pid)"
    }
}
