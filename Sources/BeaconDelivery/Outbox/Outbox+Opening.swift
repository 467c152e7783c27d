public import Foundation
import GRDB
import Logging

/// The recovery from a damaged file.
public struct OutboxRecovery: Hashable, Sendable {
    /// The damaged file's new location.
    public var movedTo: URL

    /// The number of notifications that were found intact in it, and wait again, for every destination.
    public var salvaged: Int

    /// The damage, in words.
    public var damage: String
}

extension Outbox {
    /// An open outbox file.
    struct Opened {
        var database: DatabaseQueue
        var numbers: [String: Int64]
        var recovery: OutboxRecovery?
        var file: OpenOutboxFile?
    }

    /// Opens a file, and replaces it where it is damaged.
    ///
    /// - Throws: ``OutboxError`` where it can be neither opened nor replaced.
    static func open(
        _ file: URL, limits: OutboxLimits, destinations: [String], clock: OutboxClock, logger: Logger
    ) throws(OutboxError) -> Opened {
        // Before SQLite reads its log, since it silently cuts off what follows a damaged part.
        let lost = OutboxSalvage.recordsBehindDamage(inLogOf: file)
        let openFile = OpenOutboxFile(file)
        do {
            let database = try OutboxDatabase.open(file, maximumFileSize: limits.maximumFileSize)
            let problem = try database.inDatabase { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
            guard problem == "ok" else {
                try? database.close()
                throw OutboxError(.damaged, "\(file.path) is damaged: \(problem ?? "no details")")
            }
            var opened = try prepare(database, destinations: destinations, found: lost, clock: clock)
            opened.file = openFile
            if !lost.isEmpty {
                logger.error(
                    """
                    the outbox's write-ahead log is damaged; notifications that were found intact behind the damage \
                    wait again, for every destination, and may arrive twice. Check the disk
                    """, metadata: ["file": "\(file.path)", "salvaged": "\(lost.count)"])
            }
            return opened
        } catch {
            let failure = (error as? OutboxError) ?? OutboxError(error, file, otherwise: .cannotOpen)
            guard failure.code == .damaged else { throw failure }
            guard isOurs(file) else {
                throw OutboxError(
                    .notOurs,
                    "\(file.path) is no outbox, and nothing in it looks like one. Give the outbox a file of its own; "
                        + "if it was one and is destroyed, move it aside", cause: failure)
            }
            return try replace(
                file, limits: limits, destinations: destinations, clock: clock, after: failure, logger: logger)
        }
    }

    /// Returns true for a file that was an outbox, however damaged: its beginning says so, or it holds a notification.
    /// Another program's file is not ours to move.
    private static func isOurs(_ file: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return false }
        defer { try? handle.close() }
        // The application's number is at byte 68 of a database's header (SQLite, "Database File Format", 1.3).
        let header = (try? handle.read(upToCount: 72)) ?? Data()
        let number = withUnsafeBytes(of: OutboxDatabase.applicationID.bigEndian) { Data($0) }
        return header.isEmpty || (header.count == 72 && header.suffix(4) == number)
            || !OutboxSalvage.records(of: file).isEmpty
    }

    /// Moves a damaged file aside, and creates a new one with the notifications that can be read.
    static func replace(
        _ file: URL, limits: OutboxLimits, destinations: [String], clock: OutboxClock, after failure: OutboxError,
        logger: Logger
    ) throws(OutboxError) -> Opened {
        let salvaged = OutboxSalvage.records(of: file)
        let aside = URL(fileURLWithPath: file.path + ".damaged-\(clock.wall().milliseconds)")
        do {
            for suffix in ["", "-wal", "-shm"] {
                guard FileManager.default.fileExists(atPath: file.path + suffix) else { continue }
                try FileManager.default.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
            }
            try Outbox.createFile(file)
            let openFile = OpenOutboxFile(file)
            let database = try OutboxDatabase.open(file, maximumFileSize: limits.maximumFileSize)
            var opened = try prepare(database, destinations: destinations, found: salvaged, clock: clock)
            opened.file = openFile
            opened.recovery = OutboxRecovery(
                movedTo: aside, salvaged: salvaged.count, damage: failure.description)
            logger.error(
                """
                the outbox is damaged and was moved aside; notifications that were found intact in it wait again, for \
                every destination, and may arrive twice. Check the disk; remove the moved file when nothing is missing
                """,
                metadata: [
                    "damage": "\(failure)", "movedTo": "\(aside.path)", "salvaged": "\(salvaged.count)",
                ])
            return opened
        } catch {
            throw OutboxError(
                .damaged,
                "\(failure) and could not be replaced: \(error). Move it aside, with the files beside it that end in -wal "
                    + "and -shm, to begin with an empty outbox", cause: error)
        }
    }

    /// Creates the queues, and puts the notifications into them that were found.
    private static func prepare(
        _ database: DatabaseQueue, destinations: [String], found: [BeaconNotification], clock: OutboxClock
    ) throws -> Opened {
        try database.inDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.inTransaction(.immediate) {
                let tables = OutboxTables(database)
                let now = clock.wall().milliseconds
                try tables.correctTimes(by: clock, now: now)
                let numbers = try destinations.map { try tables.number(makingQueueOf: $0) }
                for notification in found {
                    try tables.append(try EncodedNotification(notification), to: numbers, addedAt: now)
                }
                return .commit
            }
        }
        return try database.inDatabase { connection in
            let tables = OutboxTables(connection)
            var numbers: [String: Int64] = [:]
            for destination in destinations { numbers[destination] = try tables.number(of: destination) }
            return Opened(database: database, numbers: numbers)
        }
    }
}
