import BeaconSupport
public import Foundation
import GRDB

/// The result of restoring a store from a backup.
public struct RestoredStore: Sendable {
    /// The number of events.
    public var events: Int
    /// The number of values of the state.
    public var rows: Int
    /// The new path of the previous store, if one existed.
    public var setAside: URL?
}

extension EventStore {
    /// Copies a consistent snapshot of the store into a new file. Writes continue.
    ///
    /// The copy has no consumers, because events that wait here must not be handled there as well. It has only the
    /// hidden ones with their mailboxes, because the effects of their events are in the copied state.
    /// An existing file at the path is replaced once the copy is complete. If the process is killed before that, the
    /// partial copy is removed when the store is opened again.
    ///
    /// - Parameters:
    ///   - target: the new file.
    ///   - addition: values of the state to add to the copy only.
    ///   - hasNamespace: returns whether to copy a namespace of the state. Secrets of this machine do not belong in a
    ///     copy.
    /// - Throws: ``EventStoreError`` if the store cannot be read, or if the copy cannot be written.
    public nonisolated func backUp(
        to target: URL, adding addition: [StateChange] = [],
        hasNamespace: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws(EventStoreError) {
        guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        do {
            try await open.queries.read { tables in
                let partial = try PartialFile(for: target.path)
                _ = try StoreCopy(source: tables, hasNamespace: hasNamespace, addition: addition)
                    .write(to: partial.path)
                try partial.finish()
            }
        } catch {
            throw Self.copyError(error, file, target)
        }
    }

    /// Creates a store from a backup, while no process uses the store. An existing file is set aside.
    ///
    /// The backup need not be trusted: each value is checked, and nothing in it is executed.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - file: the store's file.
    ///   - clock: the clocks. Tests pass clocks other than the system's.
    ///   - hasNamespace: returns whether to restore a namespace of the state.
    /// - Throws: ``EventStoreError``: `inUse` if a process uses the store; `notOurs` or `damaged` if the file is not a
    ///   backup, or is not completely readable. Nothing is changed then.
    public static func restore(
        from backup: URL, to file: URL, clock: EventStoreClock = .system,
        hasNamespace: @escaping (String) -> Bool = { _ in true }
    ) throws(EventStoreError) -> RestoredStore {
        do {
            try AtomicFile.makeFolder(file.deletingLastPathComponent().path)
        } catch {
            throw EventStoreError(.cannotOpen, error.message, cause: error)
        }
        let lock = try StoreLock(for: file)
        defer { withExtendedLifetime(lock) {} }
        do {
            let partial = try PartialFile(for: file.path)
            let result = try readBackup(backup) { database in
                try StoreCopy(source: StoreTables(database), hasNamespace: hasNamespace).write(to: partial.path)
            }
            let aside = try setAside(file, as: "before-restore", at: clock.now)
            try partial.finish()
            return RestoredStore(events: result.events, rows: result.rows, setAside: aside)
        } catch {
            throw copyError(error, backup, file)
        }
    }

    /// Returns a value of the state in a backup; nil if it does not exist.
    ///
    /// - Throws: ``EventStoreError`` if the file is not a backup or cannot be read.
    package static func value(
        of backup: URL, _ namespace: String, _ key: String
    ) throws(EventStoreError) -> Data? {
        do {
            return try readBackup(backup) { database in
                let tables = StoreTables(database)
                try StoreCopy(source: tables).checkState()
                return try StateReader(tables, Ledger()).value(namespace, key)
            }
        } catch {
            throw EventStoreError(error, backup, otherwise: .cannotRead)
        }
    }

    private static func readBackup<Value>(_ backup: URL, _ body: (Database) throws -> Value) throws -> Value {
        guard FileManager.default.isReadableFile(atPath: backup.path) else {
            throw EventStoreError(
                .cannotRead, "cannot read \(backup.path): it does not exist, or this user may not read it")
        }
        try StoreFile.check(backup)
        // Byte 18 of a database's header is 2 if it has a log (SQLite, "Database File Format", 1.3.3).
        let header = try FileHandle(forReadingFrom: backup).read(upToCount: 32) ?? Data()
        // The size of a page and the number of pages are at the bytes 16 and 28.
        let size = try FileManager.default.attributesOfItem(atPath: backup.path)[.size] as? UInt64 ?? 0
        if header.starts(with: Data("SQLite format 3".utf8)), header.count == 32,
            header.bigEndian(16, 2) * header.bigEndian(28, 4) > size
        {
            throw EventStoreError(.damaged, "\(backup.path) is incomplete: copy it again")
        }
        let source = try openForCopy(backup, hasLog: header.count == 32 && header[18] == 2)
        defer { try? source.close() }
        return try source.inDatabase { database in
            try StoreSchema.check(database, backup)
            return try body(database)
        }
    }

    /// Opens an untrusted file for reading only.
    ///
    /// A file with a log can only be opened for writing. SQLite merges the log into the file when it is closed.
    static func openForCopy(_ file: URL, hasLog: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = !hasLog
        configuration.label = "copy"
        configuration.prepareDatabase { database in
            // Otherwise a truncated file, or one with a damaged table description, could not be read.
            if hasLog { try database.execute(sql: "PRAGMA writable_schema = ON") }
            try database.execute(
                sql: """
                    PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                    PRAGMA mmap_size = 0
                    """)
        }
        return try DatabaseQueue(path: file.path, configuration: configuration)
    }

    /// Moves a store's files to another name. The file also keeps its old name, so that it is never missing.
    ///
    /// - Returns: The new name; nil if there is no file.
    static func setAside(_ file: URL, as word: String, at now: Int64) throws -> URL? {
        let manager = FileManager.default
        guard manager.fileExists(atPath: file.path) else { return nil }
        let aside = URL(fileURLWithPath: "\(file.path).\(word)-\(now)")
        // SQLite merges the log into the file when it is closed. If this process ends below, the next start therefore
        // finds a complete file under the old name, whether or not the log was moved already.
        try? openForCopy(file, hasLog: true).close()
        for suffix in ["-wal", "-shm"] where manager.fileExists(atPath: file.path + suffix) {
            try? manager.removeItem(atPath: aside.path + suffix)
            try manager.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
        }
        try? manager.removeItem(at: aside)
        do {
            try manager.linkItem(at: file, to: aside)
        } catch {
            // The file system does not support hard links.
            try manager.moveItem(at: file, to: aside)
        }
        return aside
    }

    private static func copyError(_ error: any Error, _ source: URL, _ target: URL) -> EventStoreError {
        if let error = error as? StateError { return EventStoreError(.cannotWrite, error.message, cause: error) }
        let failure = EventStoreError(error, source, otherwise: .cannotRead)
        // SQLite's error does not name the file, but only the copy's disk can be full.
        return failure.code == .full ? EventStoreError(error, target, otherwise: .full) : failure
    }
}
