import BeaconModel
import Foundation
import GRDB

/// A row of a queue, before its record is decoded.
struct OutboxRow: Sendable {
    var sequence: Int64
    var attempts: Int
    var record: Data
}

/// The outbox's tables, during one access to its database.
struct OutboxTables {
    let database: Database

    init(_ database: Database) { self.database = database }

    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the number of a destination's queue, which is created where there is none.
    func number(makingQueueOf destination: String) throws -> Int64 {
        try run("INSERT OR IGNORE INTO destination (name) VALUES (?)", [destination])
        guard let number = try number(of: destination) else {
            throw OutboxError(.damaged, "the queue of \(destination) cannot be created")
        }
        return number
    }

    /// Returns the number of a destination's queue; nil where there is none.
    func number(of destination: String) throws -> Int64? {
        let statement = try database.cachedStatement(sql: "SELECT number FROM destination WHERE name = ?")
        return try Int64.fetchOne(statement, arguments: [destination])
    }

    /// Puts a notification into queues. One whose name is in the outbox is not put in a second time, so that a caller
    /// who did not receive the acknowledgement can repeat the call.
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
                """
                INSERT OR IGNORE INTO delivery (destination, sequence, bytes, isHeartbeat, isRepeated)
                VALUES (?, ?, ?, ?, ?)
                """, [destination, sequence, bytes, notification.isHeartbeat, notification.isRepeated])
            guard database.changesCount > 0 else { continue }
            try run(
                """
                UPDATE destination SET waiting = waiting + 1, waitingBytes = waitingBytes + ?, appended = appended + 1
                WHERE number = ?
                """, [bytes, destination])
        }
    }

    /// Removes the heartbeats that a newer one replaces.
    private func supersedeHeartbeats(of destination: Int64, before sequence: Int64) throws {
        let statement = try database.cachedStatement(
            sql: "SELECT sequence FROM delivery WHERE destination = ? AND isHeartbeat AND sequence < ?")
        let old = try Int64.fetchAll(statement, arguments: [destination, sequence])
        for sequence in old { try remove(sequence, from: destination) }
        if !old.isEmpty { try count("superseded", old.count, of: destination) }
    }

    /// Removes a notification from a queue, and from the outbox where no other queue has it.
    ///
    /// - Returns: true where it was in the queue.
    @discardableResult
    func remove(_ sequence: Int64, from destination: Int64) throws -> Bool {
        let find = try database.cachedStatement(
            sql: "SELECT bytes FROM delivery WHERE destination = ? AND sequence = ?")
        guard let bytes = try Int.fetchOne(find, arguments: [destination, sequence]) else { return false }
        try run("DELETE FROM delivery WHERE destination = ? AND sequence = ?", [destination, sequence])
        try run(
            "UPDATE destination SET waiting = waiting - 1, waitingBytes = waitingBytes - ? WHERE number = ?",
            [bytes, destination])
        try deleteUnlessNeeded(sequence)
        return true
    }

    /// Removes a dead letter, and its notification where no other queue has it.
    ///
    /// - Returns: true where it was a dead letter.
    @discardableResult
    func removeDeadLetter(_ sequence: Int64, of destination: Int64) throws -> Bool {
        try run("DELETE FROM deadLetter WHERE destination = ? AND sequence = ?", [destination, sequence])
        guard database.changesCount > 0 else { return false }
        try run("UPDATE destination SET deadLetters = deadLetters - 1 WHERE number = ?", [destination])
        try deleteUnlessNeeded(sequence)
        return true
    }

    private func deleteUnlessNeeded(_ sequence: Int64) throws {
        try run(
            """
            DELETE FROM notification WHERE sequence = ?1
            AND NOT EXISTS (SELECT 1 FROM delivery WHERE sequence = ?1)
            AND NOT EXISTS (SELECT 1 FROM deadLetter WHERE sequence = ?1)
            """, [sequence])
    }

    /// Adds to one of the counts of ``QueueStatus``.
    func count(_ column: String, _ number: Int, of destination: Int64) throws {
        try run("UPDATE destination SET \(column) = \(column) + ? WHERE number = ?", [number, destination])
    }

    /// Returns the oldest notifications of a queue, in order, without decoding their records.
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
