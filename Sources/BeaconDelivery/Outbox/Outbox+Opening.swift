import Foundation
import GRDB
import Logging

extension Outbox {
    /// An outbox's file, open.
    struct Opened {
        var database: DatabaseQueue
        var numbers: [String: Int64]
        var lastSequence: Int64
        var recovery: OutboxRecovery?
    }

    /// Opens a file, and replaces it where it is damaged.
    static func open(
        _ file: URL, _ limits: OutboxLimits, _ destinations: [String], addedAt: Int64, _ logger: Logger
    ) throws(OutboxError) -> Opened {
        // Before SQLite looks at its log, since it cuts off what follows a damaged part of it without a word.
        let lost = OutboxSalvage.recordsBehindDamage(inLogOf: file)
        do {
            let database = try OutboxDatabase.open(file, maximumFileSize: limits.maximumFileSize)
            let problem = try database.inDatabase { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
            guard problem == "ok" else {
                try? database.close()
                throw OutboxError(.damaged, "\(file.path) is damaged: \(problem ?? "no details")")
            }
            let opened = try prepare(database, destinations, lost, addedAt)
            if !lost.isEmpty {
                logger.error(
                    """
                    the outbox's log is damaged; what was found whole behind the damage waits again, for every \
                    destination, and may come twice
                    """, metadata: ["file": "\(file.path)", "salvaged": "\(lost.count)"])
            }
            return opened
        } catch {
            let failure = (error as? OutboxError) ?? OutboxError(error, file, otherwise: .cannotOpen)
            guard failure.code == .damaged else { throw failure }
            return try replace(file, limits, destinations, addedAt: addedAt, failure, logger)
        }
    }

    /// Moves a damaged file aside, and makes a new one of what can be read of it.
    static func replace(
        _ file: URL, _ limits: OutboxLimits, _ destinations: [String], addedAt: Int64, _ failure: OutboxError,
        _ logger: Logger
    ) throws(OutboxError) -> Opened {
        let salvaged = OutboxSalvage.records(of: file)
        let aside = URL(fileURLWithPath: file.path + ".damaged-\(addedAt)")
        do {
            for suffix in ["", "-wal", "-shm"] {
                guard FileManager.default.fileExists(atPath: file.path + suffix) else { continue }
                try FileManager.default.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
            }
            let database = try OutboxDatabase.open(file, maximumFileSize: limits.maximumFileSize)
            var opened = try prepare(database, destinations, salvaged, addedAt)
            opened.recovery = OutboxRecovery(
                movedTo: aside, salvaged: salvaged.count, damage: failure.description)
            logger.error(
                """
                the outbox is damaged and was moved aside; what was found whole in it waits again, for every \
                destination, and may come twice. Check the disk; when nothing is missed, remove the file that was moved
                """,
                metadata: [
                    "damage": "\(failure)", "movedTo": "\(aside.path)", "salvaged": "\(salvaged.count)",
                ])
            return opened
        } catch {
            throw OutboxError(
                .damaged,
                "\(failure) and could not be replaced: \(error). Move it aside, with those beside it that end in -wal and "
                    + "-shm, to begin anew", cause: error)
        }
    }

    /// Makes the queues, and puts into them what was found.
    private static func prepare(
        _ database: DatabaseQueue, _ destinations: [String], _ found: [BeaconNotification], _ addedAt: Int64
    ) throws -> Opened {
        try database.inDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.inTransaction(.immediate) {
                let tables = OutboxTables(database)
                let numbers = try destinations.map { try tables.number(makingQueueOf: $0) }
                for notification in found {
                    try tables.append(try EncodedNotification(notification), to: numbers, addedAt: addedAt)
                }
                return .commit
            }
        }
        return try database.inDatabase { connection in
            let tables = OutboxTables(connection)
            var numbers: [String: Int64] = [:]
            for destination in destinations { numbers[destination] = try tables.number(of: destination) }
            let last = try Int64.fetchOne(connection, sql: "SELECT max(sequence) FROM notification")
            return Opened(database: database, numbers: numbers, lastSequence: last ?? 0)
        }
    }
}
