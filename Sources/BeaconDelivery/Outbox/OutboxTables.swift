import BeaconModel
import Foundation
import GRDB

/// The outbox's tables, during one access to its database.
struct OutboxTables {
    let database: Database

    init(_ database: Database) { self.database = database }

    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    // The number of a destination's queue, which is made where there is none.
    func number(makingQueueOf destination: String) throws -> Int64 {
        try run("INSERT OR IGNORE INTO destination (name) VALUES (?)", [destination])
        guard let number = try number(of: destination) else {
            throw OutboxError(.damaged, "the queue of \(destination) cannot be made")
        }
        return number
    }

    func number(of destination: String) throws -> Int64? {
        let statement = try database.cachedStatement(sql: "SELECT number FROM destination WHERE name = ?")
        return try Int64.fetchOne(statement, arguments: [destination])
    }

    /// Puts a notification into queues. One whose name is there already is not put in a second time, so that whoever does
    /// not know whether it was taken can ask again.
    func append(_ notification: EncodedNotification, to destinations: [Int64], addedAt: Int64) throws {
        try run(
            "INSERT OR IGNORE INTO notification (id, addedAt, record) VALUES (?, ?, ?)",
            [notification.idBytes, addedAt, notification.record])
        let sequence: Int64
        if database.changesCount > 0 {
            sequence = database.lastInsertedRowID
        } else {
            let statement = try database.cachedStatement(sql: "SELECT sequence FROM notification WHERE id = ?")
            guard let known = try Int64.fetchOne(statement, arguments: [notification.idBytes]) else { return }
            sequence = known
        }
        let bytes = notification.record.count
        for destination in destinations {
            if notification.isHeartbeat { try supersedeHeartbeats(of: destination, before: sequence) }
            try run(
                "INSERT OR IGNORE INTO delivery (destination, sequence, bytes, isHeartbeat) VALUES (?, ?, ?, ?)",
                [destination, sequence, bytes, notification.isHeartbeat])
            guard database.changesCount > 0 else { continue }
            try run(
                """
                UPDATE destination SET waiting = waiting + 1, waitingBytes = waitingBytes + ?, appended = appended + 1
                WHERE number = ?
                """, [bytes, destination])
        }
    }

    /// Who was present an hour ago is of no use to anyone once the newer list is there.
    private func supersedeHeartbeats(of destination: Int64, before sequence: Int64) throws {
        let statement = try database.cachedStatement(
            sql: "SELECT sequence FROM delivery WHERE destination = ? AND isHeartbeat AND sequence < ?")
        let old = try Int64.fetchAll(statement, arguments: [destination, sequence])
        for sequence in old { try leave(sequence, from: destination) }
        if !old.isEmpty { try count("superseded", old.count, of: destination) }
    }

    /// Takes a notification out of a queue, where it is in it, and out of the outbox where nobody else waits for it.
    ///
    /// - Returns: whether it was in the queue.
    @discardableResult
    func leave(_ sequence: Int64, from destination: Int64) throws -> Bool {
        let find = try database.cachedStatement(
            sql: "SELECT bytes FROM delivery WHERE destination = ? AND sequence = ?")
        guard let bytes = try Int.fetchOne(find, arguments: [destination, sequence]) else { return false }
        try run("DELETE FROM delivery WHERE destination = ? AND sequence = ?", [destination, sequence])
        try run(
            "UPDATE destination SET waiting = waiting - 1, waitingBytes = waitingBytes - ? WHERE number = ?",
            [bytes, destination])
        try forgetUnlessNeeded(sequence)
        return true
    }

    /// Takes a notification off those that are parked.
    ///
    /// - Returns: whether it was one of them.
    @discardableResult
    func unpark(_ sequence: Int64, of destination: Int64) throws -> Bool {
        try run("DELETE FROM parked WHERE destination = ? AND sequence = ?", [destination, sequence])
        guard database.changesCount > 0 else { return false }
        try run("UPDATE destination SET parked = parked - 1 WHERE number = ?", [destination])
        try forgetUnlessNeeded(sequence)
        return true
    }

    private func forgetUnlessNeeded(_ sequence: Int64) throws {
        try run(
            """
            DELETE FROM notification WHERE sequence = ?1
            AND NOT EXISTS (SELECT 1 FROM delivery WHERE sequence = ?1)
            AND NOT EXISTS (SELECT 1 FROM parked WHERE sequence = ?1)
            """, [sequence])
    }

    /// Adds to one of the counts that ``QueueStatus`` shows.
    func count(_ column: String, _ number: Int, of destination: Int64) throws {
        try run("UPDATE destination SET \(column) = \(column) + ? WHERE number = ?", [number, destination])
    }

    /// The oldest notifications of a queue, in order. Records that cannot be read are handed over as they are.
    func page(of destination: Int64, limit: Int) throws -> [OutboxRow] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT delivery.sequence, delivery.attempts, notification.record FROM delivery
                JOIN notification ON notification.sequence = delivery.sequence
                WHERE delivery.destination = ? ORDER BY delivery.sequence LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: [destination, limit]).map { row in
            OutboxRow(sequence: row[0], attempts: row[1], record: row[2])
        }
    }
}
