import BeaconSupport
public import Foundation
import GRDB

/// A store that was restored from a backup.
public struct RestoredStore: Sendable {
    /// The number of events.
    public var events: Int
    /// The number of values of the state.
    public var rows: Int
    /// The previous store's new name; nil if there was no store.
    public var setAside: URL?
}

extension EventStore {
    /// Copies the store into a new file, as it is at one moment. Writes continue.
    ///
    /// The copy is an event store itself, without consumers: what waits for them here is not handled there as well. A
    /// file of that name is replaced once the copy is complete; a kill before leaves none of it behind once the store
    /// is opened again.
    ///
    /// - Parameters:
    ///   - target: the new file.
    ///   - addition: values of the state that the copy has and the store has not.
    ///   - hasNamespace: returns true for namespaces of the state that belong to it; secrets of this machine do not.
    /// - Throws: ``EventStoreError`` where the store cannot be read, or the copy cannot be written.
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

    /// Makes a store of a backup, while no process uses the store. The file that is there is set aside.
    ///
    /// The backup may be of any origin: each value is checked, and nothing in it is run.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - file: the store's file.
    ///   - clock: the clocks; others than the system's are for tests.
    ///   - hasNamespace: returns true for namespaces of the state that are taken over.
    /// - Throws: ``EventStoreError``: `inUse` where a process uses the store; `notOurs` or `damaged` where the file is
    ///   no backup, or not all of it can be read. Nothing was changed then.
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
            guard result.unreadable == 0 else {
                throw EventStoreError(.damaged, "\(result.unreadable) events of \(backup.path) cannot be read")
            }
            let aside = try setAside(file, as: "before-restore", at: clock.now)
            try partial.finish()
            return RestoredStore(events: result.events, rows: result.rows, setAside: aside)
        } catch {
            throw copyError(error, backup, file)
        }
    }

    /// Returns a value of the state that a backup has; nil if there is no such value.
    ///
    /// - Throws: ``EventStoreError`` where the file is no backup, or cannot be read.
    package static func value(
        of backup: URL, _ namespace: String, _ key: String
    ) throws(EventStoreError) -> Data? {
        do {
            return try readBackup(backup) { database in
                let tables = StoreTables(database)
                try StoreCopy(source: tables).checkState()
                return try StateReader(tables).value(namespace, key)
            }
        } catch {
            throw EventStoreError(error, backup, otherwise: .cannotRead)
        }
    }

    private static func readBackup<Value>(_ backup: URL, _ body: (Database) throws -> Value) throws -> Value {
        guard FileManager.default.isReadableFile(atPath: backup.path) else {
            throw EventStoreError(
                .cannotRead, "cannot read \(backup.path): there is no such file, or it is not for this user")
        }
        // Byte 18 of a database's header is 2 where it has a log (SQLite, "Database File Format", 1.3.3).
        let header = try FileHandle(forReadingFrom: backup).read(upToCount: 19)
        let source = try openForCopy(backup, hasLog: header?.last == 2)
        defer { try? source.close() }
        return try source.inDatabase { database in
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
            guard application == StoreSchema.applicationID else {
                throw EventStoreError(.notOurs, "\(backup.path) is no backup of an event store")
            }
            return try body(database)
        }
    }

    /// Opens a file that is only read, and whose content is trusted in nothing.
    ///
    /// A file with a log can only be opened for writing, and its log goes into it when it is closed.
    static func openForCopy(_ file: URL, hasLog: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = !hasLog
        configuration.label = "copy"
        configuration.prepareDatabase { database in
            // Without it a file that lacks its end, or a damaged table's description, cannot be read at all.
            if hasLog { try database.execute(sql: "PRAGMA writable_schema = ON") }
            try database.execute(
                sql: """
                    PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                    PRAGMA mmap_size = 0
                    """)
        }
        return try DatabaseQueue(path: file.path, configuration: configuration)
    }

    /// Gives a store's files another name. The file itself keeps its old name as well, so that it is never missing.
    ///
    /// - Returns: the new name; nil where there is no file.
    static func setAside(_ file: URL, as word: String, at now: Int64) throws -> URL? {
        let manager = FileManager.default
        guard manager.fileExists(atPath: file.path) else { return nil }
        let aside = URL(fileURLWithPath: "\(file.path).\(word)-\(now)")
        for suffix in ["-wal", "-shm"] where manager.fileExists(atPath: file.path + suffix) {
            try? manager.removeItem(atPath: aside.path + suffix)
            try manager.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
        }
        try? manager.removeItem(at: aside)
        do {
            try manager.linkItem(at: file, to: aside)
        } catch {
            // A file system without links.
            try manager.moveItem(at: file, to: aside)
        }
        return aside
    }

    private static func copyError(_ error: any Error, _ source: URL, _ target: URL) -> EventStoreError {
        if let error = error as? StateError { return EventStoreError(.cannotWrite, error.message, cause: error) }
        let failure = EventStoreError(error, source, otherwise: .cannotRead)
        // SQLite names no file, and it was the copy's disk that was full.
        return failure.code == .full ? EventStoreError(error, target, otherwise: .full) : failure
    }
}
