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
    /// Returns what keeps a file from being an event store, in words that follow its path; nil where nothing does, or
    /// where it is still to be created. Nothing is changed, and a store that is in use is not disturbed.
    public static func fault(of file: URL) -> String? {
        // Closing any descriptor of a file gives up every lock that the process has on it, SQLite's among them
        // (fcntl(2)). So nothing but SQLite opens one that is in use, by whatever name.
        let path = file.resolvingSymlinksInPath().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
        if isFolder.boolValue { return "is a folder; write the path of a file" }
        if FileLock.isHeld(path + ".lock") { return nil }
        guard let handle = FileHandle(forReadingAtPath: path) else { return "cannot be read by this user" }
        defer { try? handle.close() }
        // SQLite, "Database File Format", 1.3.
        let beginning = (try? handle.read(upToCount: 15)) ?? Data()
        return beginning.isEmpty || beginning == Data("SQLite format 3".utf8)
            ? nil : "is no event store; give the events another path"
    }

    /// An open store.
    struct Opened {
        var file: StoreFile
        var ledger: Ledger
        var recovery: EventStoreRecovery?
    }

    /// Opens a file, and replaces it where it is damaged.
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
            // A file whose beginning is destroyed was ours where its lock was.
            guard wasUsed || StoreFile.isOurs(file) else {
                try? FileManager.default.removeItem(atPath: lockPath)
                throw EventStoreError(
                    .notOurs, "\(file.path) is no event store. Give the store another path, or move this file aside",
                    cause: error)
            }
            return (try replace(file, settings: settings, clock: clock, after: error, logger: logger), lock)
        }
    }

    private static func connect(_ file: URL, _ settings: EventStoreSettings) throws(EventStoreError) -> Opened {
        do {
            let open = try StoreFile(file, maximumSize: settings.maximumFileSize)
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

    /// Sets a damaged file aside, and puts a new one in its place with all rows that can be read.
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
                // Without a transaction, which an error would end.
                result = try source.inDatabase { database in
                    try StoreCopy(source: StoreTables(database), isSalvage: true).write(to: partial.path)
                }
            } catch {
                // Nothing of it can be read.
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
                the event store is damaged and was moved aside; what can be read of it is in a new one. Check the disk; \
                remove the moved file when nothing is missing
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

    /// Replaces the file, which was found damaged while it is open.
    func replaceDamagedFile(because failure: EventStoreError) throws(EventStoreError) {
        guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        try replaceDamagedFile(open, because: failure)
    }

    /// Replaces an open file, unless another one has taken its place already.
    func replaceDamagedFile(_ open: StoreFile, because failure: EventStoreError) throws(EventStoreError) {
        guard shared.withLock({ $0.file?.writer.isSame(as: open.writer) ?? false }) else { return }
        open.close()
        let new = try Self.replace(file, settings: settings, clock: clock, after: failure, logger: logger)
        var next = new.ledger
        // Where they cannot be written now, the next write does so.
        try? new.file.writer.use { database in
            try StoreTables.transaction(in: database) { tables in
                var ledger = new.ledger
                try ledger.continueConsumers(of: self.ledger, tables)
                next = ledger
                try ledger.write(tables)
                // Numbers that were given out are not given out again.
                try tables.setSequence(max(ledger.sequence, self.ledger.sequence))
            }
        }
        next.sequence = max(next.sequence, ledger.sequence)
        ledger = next
        forgetConnection()
        shared.withLock { [ledger] in ($0.file, $0.recovery, $0.ledger) = (new.file, new.recovery, ledger) }
    }
}

extension Ledger {
    /// Takes over what only the process knows of its consumers, and those whose rows are lost, since their readers go
    /// on.
    fileprivate mutating func continueConsumers(of old: Ledger, _ tables: StoreTables) throws {
        for var consumer in old.consumers {
            if let index = index(of: consumer.name) {
                consumers[index].limits = consumer.limits
                guard consumers[index].filter != consumer.filter else { continue }
                consumers[index].set(consumer.filter)
                try consumers[index].recount(tables, through: sequence)
            } else {
                consumer.position = min(consumer.position, sequence)
                try consumer.recount(tables, through: sequence)
                try consumer.recountRefused(tables)
                consumers.append(consumer)
            }
        }
    }
}
