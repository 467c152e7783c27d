import BeaconSupport
public import Foundation
import GRDB
import Logging

/// The recovery from a damaged file.
public struct EventStoreRecovery: Hashable, Sendable {
    /// The damaged file's new name.
    public var movedTo: URL
    /// The damage, in words.
    public var damage: String
    /// The number of events that were found in it.
    public var events: Int
    /// The number of values of the state that were found in it.
    public var rows: Int
    /// The number of rows, or places of a table, that could not be read.
    public var unreadable: Int
}

extension EventStore {
    /// An open store.
    struct Opened {
        var file: StoreFile
        var lock: StoreLock
        var ledger: Ledger
        var recovery: EventStoreRecovery?
    }

    /// Opens a file, and replaces it where it is damaged.
    static func open(
        _ file: URL, settings: EventStoreSettings, clock: EventStoreClock, logger: Logger
    ) throws(EventStoreError) -> Opened {
        let lockPath = file.path + ".lock"
        let wasUsed = FileManager.default.fileExists(atPath: lockPath)
        try StoreFile.create(file)
        let lock = try StoreLock(for: file)
        PartialFile.sweep(file.deletingLastPathComponent())
        do {
            let (open, ledger) = try connect(file, settings)
            return Opened(file: open, lock: lock, ledger: ledger)
        } catch {
            guard error.code == .damaged else {
                if error.code == .notOurs, !wasUsed { try? FileManager.default.removeItem(atPath: lockPath) }
                throw error
            }
            // A file whose beginning is destroyed was ours where its lock was.
            guard wasUsed || StoreFile.isOurs(file) else {
                try? FileManager.default.removeItem(atPath: lockPath)
                throw EventStoreError(
                    .notOurs, "\(file.path) is no event store. Give the store another path, or move this file aside",
                    cause: error)
            }
            let (open, ledger, recovery) = try replace(
                file, settings: settings, clock: clock, after: error, logger: logger)
            return Opened(file: open, lock: lock, ledger: ledger, recovery: recovery)
        }
    }

    private static func connect(
        _ file: URL, _ settings: EventStoreSettings
    ) throws(EventStoreError) -> (StoreFile, Ledger) {
        do {
            let open = try StoreFile(file, maximumSize: settings.maximumFileSize)
            do {
                return (open, try open.writer.inDatabase { try Ledger(StoreTables($0)) })
            } catch {
                open.close()
                throw error
            }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotOpen)
        }
    }

    /// Sets a damaged file aside, and puts a new one in its place with all rows that can be read.
    private static func replace(
        _ file: URL, settings: EventStoreSettings, clock: EventStoreClock, after failure: EventStoreError,
        logger: Logger
    ) throws(EventStoreError) -> (StoreFile, Ledger, EventStoreRecovery) {
        do {
            let partial = try PartialFile(for: file.path)
            var result = StoreCopy.Result()
            do {
                let source = try openForCopy(file, hasLog: true)
                defer { try? source.close() }
                // Without a transaction, which an error would end.
                result = try source.inDatabase { database in
                    try StoreCopy(source: StoreTables(database), contents: BackupContents(), isTolerant: true)
                        .write(to: partial.path)
                }
            } catch {
                // Nothing of it can be read.
                logger.debug("cannot read \(file.path): \(error)")
                result.unreadable += 1
                try Data().write(to: URL(fileURLWithPath: partial.path))
            }
            let aside = try setAside(file, as: "damaged", at: clock.now) ?? file
            try partial.finish()
            let (open, ledger) = try connect(file, settings)
            let recovery = EventStoreRecovery(
                movedTo: aside, damage: failure.message, events: result.events, rows: result.rows,
                unreadable: result.unreadable)
            logger.error(
                """
                the event store is damaged and was moved aside; what can be read of it is in a new one. Check the disk; \
                remove the moved file when nothing is missing
                """,
                metadata: [
                    "damage": "\(failure)", "movedTo": "\(aside.path)", "events": "\(result.events)",
                    "values": "\(result.rows)", "unreadable": "\(result.unreadable)",
                ])
            return (open, ledger, recovery)
        } catch {
            throw EventStoreError(
                .damaged,
                "\(failure) and could not be replaced: \(error). Move it aside, with the files beside it that end in -wal "
                    + "and -shm, to begin with an empty store", cause: error)
        }
    }

    /// Replaces the file, which was found damaged while it is open.
    func replaceDamagedFile(because failure: EventStoreError) throws(EventStoreError) {
        guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        try replaceDamagedFile(open, because: failure)
    }

    /// Replaces an open file, unless another one has taken its place already.
    func replaceDamagedFile(_ open: StoreFile, because failure: EventStoreError) throws(EventStoreError) {
        guard shared.withLock({ $0.file?.writer === open.writer }) else { return }
        open.close()
        let (new, fresh, recovery) = try Self.replace(
            file, settings: settings, clock: clock, after: failure, logger: logger)
        var next = fresh
        do {
            for index in next.consumers.indices {
                guard let old = ledger.index(of: next.consumers[index].status.name).map({ ledger.consumers[$0] })
                else { continue }
                next.consumers[index].limits = old.limits
                next.consumers[index].filter = old.filter
                next.consumers[index].generation = old.generation
                let through = next.sequence
                try new.writer.inDatabase { try next.consumers[index].recount(StoreTables($0), through: through) }
            }
            // One whose row is lost begins where it was, since its reader goes on.
            for old in ledger.consumers where next.index(of: old.status.name) == nil {
                var record = old
                record.status.position = min(record.status.position, next.sequence)
                let through = next.sequence
                try new.writer.inDatabase { try record.recount(StoreTables($0), through: through) }
                next.consumers.append(record)
            }
            // Where it cannot be written now, the next write does so.
            let rows = next
            try? new.writer.inDatabase { database in
                var rows = rows
                try database.inTransaction(.immediate) {
                    try rows.write(StoreTables(database))
                    return .commit
                }
            }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotRead)
        }
        // Numbers that were given out are not given out again.
        next.sequence = max(next.sequence, ledger.sequence)
        ledger = next
        self.recovery = recovery
        forgetConnection()
        shared.withLock { $0.file = new }
    }
}
