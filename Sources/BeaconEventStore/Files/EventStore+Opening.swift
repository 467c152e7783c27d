import BeaconSupport
import CLibrary
public import Foundation
import GRDB
import Logging

/// The recovery from a damaged file.
public struct EventStoreRecovery: Hashable, Sendable {
    /// The new path of the damaged file.
    public var movedTo: URL
    /// A description of the damage.
    public var damage: String
    /// The number of recovered events.
    public var events: Int
    /// The number of recovered values of the state.
    public var rows: Int
    /// The number of rows, or positions in a table, that could not be read.
    public var unreadable: Int
}

extension EventStore {
    /// Returns the reason why a file cannot be an event store, as a text that follows its path; nil if it can, or if it
    /// does not exist yet. The check changes nothing and does not disturb a store that is in use.
    public static func fault(of file: URL) -> String? {
        // Closing any descriptor of a file releases every lock that the process has on it, including SQLite's
        // (fcntl(2)). Therefore only SQLite may open a file that is in use, under any name.
        let path = file.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        if (try? StoreFile.check(file)) == nil { return "is a folder, a pipe or a device; write the path of a file" }
        if FileLock.isHeld(path + ".lock") || StoreLock.isHeld(path) { return nil }
        guard access(path, R_OK) == 0 else { return "cannot be read by this user" }
        // The beginning of a store can be damaged, too. The store recovers what it can.
        if FileManager.default.fileExists(atPath: path + ".lock") || StoreFile.isDatabase(path) { return nil }
        return "is not an event store; give the events another path"
    }

    /// An open store.
    struct Opened {
        var file: StoreFile
        var ledger: Ledger
        var recovery: EventStoreRecovery?
    }

    /// Opens a file, and replaces it if it is damaged.
    static func open(
        _ file: URL, settings: EventStoreSettings, clock: EventStoreClock, logger: Logger
    ) throws(EventStoreError) -> (Opened, StoreLock) {
        let lockPath = file.path + ".lock"
        let wasUsed = FileManager.default.fileExists(atPath: lockPath)
        try StoreFile.create(file)
        let lock = try StoreLock(for: file)
        PartialFile.sweep(file.deletingLastPathComponent())
        do {
            return (try connect(file, settings), lock)
        } catch {
            guard error.code == .damaged else {
                if error.code == .notOurs, !wasUsed { try? FileManager.default.removeItem(atPath: lockPath) }
                throw error
            }
            // If the beginning of a file is destroyed, the lock beside it shows that it was a store; see `fault(of:)`.
            guard wasUsed || StoreFile.isOurs(file) else {
                try? FileManager.default.removeItem(atPath: lockPath)
                throw EventStoreError(
                    .notOurs, "\(file.path) is not an event store. Give the store another path, or move the file",
                    cause: error)
            }
            let new = try replace(file, settings: settings, clock: clock, after: error, logger: logger)
            try lock.renew(file)
            return (new, lock)
        }
    }

    private static func connect(_ file: URL, _ settings: EventStoreSettings) throws(EventStoreError) -> Opened {
        do {
            let open = try StoreFile(file, settings)
            do {
                return Opened(file: open, ledger: try open.writer.use { try Ledger(StoreTables($0)) })
            } catch {
                open.close()
                throw error
            }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotOpen)
        }
    }

    /// Sets a damaged file aside, and creates a new one with all readable rows.
    private static func replace(
        _ file: URL, settings: EventStoreSettings, clock: EventStoreClock, after failure: EventStoreError,
        logger: Logger
    ) throws(EventStoreError) -> Opened {
        do {
            let partial = try PartialFile(for: file.path)
            var result = StoreCopy.Result()
            do {
                let source = try openForCopy(file, hasLog: true)
                defer { try? source.close() }
                // Do not use a transaction, because an error would end it.
                result = try source.inDatabase { database in
                    try StoreCopy(source: StoreTables(database), isSalvage: true).write(to: partial.path)
                }
            } catch {
                // The file is completely unreadable.
                logger.debug("cannot read \(file.path): \(error)")
                result.unreadable += 1
                try Data().write(to: URL(fileURLWithPath: partial.path))
            }
            let aside = try setAside(file, as: "damaged", at: clock.now) ?? file
            try partial.finish()
            var opened = try connect(file, settings)
            opened.recovery = EventStoreRecovery(
                movedTo: aside, damage: failure.message, events: result.events, rows: result.rows,
                unreadable: result.unreadable)
            logger.error(
                """
                the event store was damaged and has been moved aside; a new one contains its readable part. Check the \
                disk; remove the moved file when nothing is missing
                """,
                metadata: [
                    "damage": "\(failure)", "movedTo": "\(aside.path)", "events": "\(result.events)",
                    "values": "\(result.rows)", "unreadable": "\(result.unreadable)",
                ])
            return opened
        } catch {
            throw EventStoreError(
                .damaged,
                "\(failure) and could not be replaced: \(error). Move it aside, with the files beside it that end in -wal "
                    + "and -shm, to begin with an empty store", cause: error)
        }
    }

    /// Replaces the file after damage was found while it is open.
    func replaceDamagedFile(because failure: EventStoreError) throws(EventStoreError) {
        guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        try replaceDamagedFile(open, because: failure)
    }

    /// Replaces an open file, unless it was replaced already.
    func replaceDamagedFile(_ open: StoreFile, because failure: EventStoreError) throws(EventStoreError) {
        guard shared.withLock({ $0.file?.writer.isSame(as: open.writer) ?? false }) else { return }
        open.close()
        let new = try Self.replace(file, settings: settings, clock: clock, after: failure, logger: logger)
        try lock?.renew(file)
        // Consumers whose rows are lost continue.
        for old in ledger.consumers {
            setups.append(
                Setup(
                    consumers: [(old.name, old.filter)], paused: old.isActive ? [] : [old.name], limits: old.limits))
        }
        // Never reuse numbers that were already assigned.
        let sequence = max(new.ledger.sequence, ledger.sequence)
        try? new.file.writer.use { try StoreTables.transaction(in: $0) { try $0.setSequence(sequence) } }
        ledger = new.ledger
        ledger.sequence = sequence
        forgetConnection()
        shared.withLock { [ledger] in ($0.file, $0.recovery, $0.ledger) = (new.file, new.recovery, ledger) }
    }
}
