import BeaconSupport
import CLibrary
import Foundation
import GRDB

/// An open file of an event store, with one connection for writing and two for reading.
struct StoreFile: Sendable {
    let writer: StoreConnection
    /// The connection for consumers, whose reads are short.
    let reader: StoreConnection
    /// The connection for history queries and backups, which may take long.
    let queries: StoreConnection

    /// The file and its log, as they were first seen.
    private let places = Locked<[String: FileNumber]>([:])

    /// The longest wait of an open file, in milliseconds, for another process with SQLite's lock. A longer wait would
    /// hide the failure.
    private static let patience = 500

    /// Opens a file, and creates missing tables. A complete file is not written to, so that it can be read on a full
    /// disk.
    ///
    /// - Throws: SQLite's error, or ``EventStoreError`` if the file is not a store.
    init(_ file: URL, _ settings: EventStoreSettings) throws {
        var configuration = Configuration()
        configuration.label = "event store"
        configuration.busyMode = .callback(settings.waitsForLock)
        writer = try StoreConnection(file.path, configuration)
        do {
            try writer.use {
                try Self.prepare($0, file, settings.maximumFileSize)
                try $0.execute(sql: "PRAGMA busy_timeout = \(Self.patience)")
            }
            configuration.readonly = true
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA cache_size = -1000; PRAGMA trusted_schema = OFF")
            }
            reader = try StoreConnection(file.path, configuration)
            queries = try StoreConnection(file.path, configuration)
        } catch {
            writer.close()
            throw error
        }
    }

    private static func prepare(_ database: Database, _ file: URL, _ maximumSize: Int?) throws {
        try database.execute(sql: "PRAGMA trusted_schema = OFF")
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let objects = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        let isNew = application == 0 && objects == 0
        if !isNew { try StoreSchema.check(database, file) }
        // This must precede the first write.
        if isNew { try database.execute(sql: StoreSchema.pageSize) }
        // With the log, writers do not wait for readers, and a commit is one write to the log (SQLite, "Write-Ahead
        // Logging").
        try database.execute(sql: "PRAGMA journal_mode = WAL")
        // Pages are half of SQLite's default size, so allow twice as many in the log.
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 2000")
        // Truncate the log to its usual size after a burst.
        try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
        // 2 MB, regardless of the file's size.
        try database.execute(sql: "PRAGMA cache_size = -2000")
        if let maximumSize {
            let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
            try database.execute(sql: "PRAGMA max_page_count = \(max(maximumSize / max(pageSize, 512), 1))")
        }
        if isNew {
            try StoreTables.transaction(in: database) { _ in try StoreSchema.create(in: database) }
        } else {
            guard try StoreSchema.isWhole(database) else {
                throw EventStoreError(.damaged, "\(file.path) is damaged: its tables are not an event store's")
            }
            // Checking a larger file at each start takes too long. Its damage is found when it is read.
            let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
            guard size <= 32 << 20 else { return }
            let problem = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
            guard problem == "ok" else {
                throw EventStoreError(.damaged, "\(file.path) is damaged: \(problem ?? "no details")")
            }
        }
    }

    /// Throws an error if the file or its log was renamed, deleted or replaced: then a new process would not see what
    /// this one writes.
    func checkPlace(_ file: URL) throws(EventStoreError) {
        let moved = places.withLock { places in
            [file.path, file.path + "-wal"].first { path in
                let number = FileNumber(path)
                defer { places[path] = places[path] ?? number }
                return number == nil || places[path] ?? number != number
            }
        }
        guard let moved else { return }
        throw EventStoreError(
            .cannotWrite,
            "\(moved) was renamed, deleted or replaced while it was in use, so that a restart would lose what is written. "
                + "Put it back, or restart the program to continue with the file of this name")
    }

    /// Closes the connections.
    func close() {
        queries.close()
        reader.close()
        writer.close()
    }

    /// Refuses a path of anything but a file: a reader of a pipe could wait for ever.
    static func check(_ file: URL) throws(EventStoreError) {
        var status = stat()
        guard stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw EventStoreError(.notOurs, "\(file.path) is a folder, a pipe or a device; write the path of a file")
    }

    /// Creates the folder and the file if they are missing. Other users may not read them, because they record people's
    /// presence.
    static func create(_ file: URL) throws(EventStoreError) {
        try check(file)
        do throws(StateError) {
            try AtomicFile.makeFolder(file.deletingLastPathComponent().path)
            try AtomicFile.make(file.path)
        } catch {
            throw EventStoreError(
                .cannotOpen,
                "\(file.path) cannot be created: \(error.message). Check that this user may write there", cause: error)
        }
    }

    /// Returns the beginning of a file; nil if it cannot be read (SQLite, "Database File Format", 1.3).
    private static func header(_ path: String) -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 72)) ?? Data()
    }

    /// Returns whether a file begins like a database, or is empty.
    static func isDatabase(_ path: String) -> Bool {
        header(path).map { $0.isEmpty || $0.starts(with: Data("SQLite format 3".utf8)) } ?? false
    }

    /// Returns whether a file was an event store, even if it is damaged. Files of other programs must not be moved.
    static func isOurs(_ file: URL) -> Bool {
        let header = header(file.path) ?? Data()
        // The application id is at byte 68.
        let number = withUnsafeBytes(of: StoreSchema.applicationID.bigEndian) { Data($0) }
        return header.isEmpty || (header.count == 72 && header.suffix(4) == number)
    }
}

/// The number of a file on its disk. It is the same under each name of the file.
struct FileNumber: Hashable {
    private let device: UInt64
    private let inode: UInt64

    /// Creates the number of the file at a path; nil without a file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

/// The lock that allows only one process at a time to write to a store. It is on a separate file, and the system
/// releases it when the process ends for any reason (flock(2)).
///
/// It also locks the file itself, because the file may have other names.
final class StoreLock: Sendable {
    private let lock: FileLock
    private let own: Locked<(number: FileNumber, lock: FileLock)?>

    /// The files that this process has locked. Closing any descriptor of such a file would release SQLite's locks on it
    /// (fcntl(2)), so it is not even opened again.
    private static let held = Locked<Set<FileNumber>>([])

    /// Returns whether this process has locked a file, under any name.
    static func isHeld(_ path: String) -> Bool {
        FileNumber(path).map { number in held.withLock { $0.contains(number) } } ?? false
    }

    /// The number of attempts to take the lock of a process that has ended, and the microseconds between them: ten
    /// seconds in all, for a busy machine.
    private static let attempts = 500
    private static let pause: UInt32 = 20_000

    /// Takes the lock.
    ///
    /// - Throws: `inUse` if another holder has it, `cannotOpen` if the file cannot be created.
    init(for file: URL) throws(EventStoreError) {
        lock = try Self.lock(besides: file)
        own = Locked(try Self.lock(file))
    }

    deinit { release() }

    private func release() {
        guard let (number, _) = own.withLock({ $0 }) else { return }
        _ = Self.held.withLock { $0.remove(number) }
        own.withLock { $0 = nil }
    }

    /// Locks the new file of this name in place of the old one.
    func renew(_ file: URL) throws(EventStoreError) {
        release()
        let new = try Self.lock(file)
        own.withLock { $0 = new }
    }

    private static func lock(
        _ file: URL
    ) throws(EventStoreError) -> (number: FileNumber, lock: FileLock)? {
        // A restored file does not exist yet.
        guard let number = FileNumber(file.path) else { return nil }
        let isNew = held.withLock { $0.insert(number).inserted }
        do throws(StateError) {
            if isNew, let lock = try FileLock(existing: file.path) { return (number, lock) }
        } catch {
            _ = held.withLock { $0.remove(number) }
            throw EventStoreError(.cannotOpen, error.message, cause: error)
        }
        if isNew { _ = held.withLock { $0.remove(number) } }
        throw EventStoreError(
            .inUse,
            "\(file.path) is in use under another name. End the other program, or give this one another path")
    }

    private static func lock(besides file: URL) throws(EventStoreError) -> FileLock {
        let path = file.path + ".lock"
        // The service can use a lock file that root created. If the file cannot be created, opening it reports the
        // reason.
        try? AtomicFile.make(path)
        for _ in 0..<Self.attempts {
            do throws(StateError) {
                if let lock = try FileLock(alone: path) {
                    try? Data("\(getpid())\n".utf8).write(to: URL(fileURLWithPath: path))
                    return lock
                }
            } catch {
                throw EventStoreError(.cannotOpen, error.message, cause: error)
            }
            // If a process was killed while it started a program, that program holds the lock for a short time, between
            // fork and exec.
            guard let pid = Self.pid(path), kill(pid, 0) != 0, errno == ESRCH else { break }
            usleep(Self.pause)
        }
        let holder = Self.pid(path).map { $0 == getpid() ? "another part of this process" : "process \($0)" }
        throw EventStoreError(
            .inUse,
            "\(file.path) is in use by \(holder ?? "another process"). End the other, or give this one another path")
    }

    private static func pid(_ path: String) -> pid_t? {
        guard let bytes = try? SmallFile.contents(path: path, limit: 64) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return pid_t(text).flatMap { $0 > 0 ? $0 : nil }
    }
}
