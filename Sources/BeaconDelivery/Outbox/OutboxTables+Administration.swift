import BeaconModel
import GRDB

extension OutboxTables {
    /// Returns the status of all queues, by name.
    func status() throws -> [QueueStatus] {
        try Row.fetchAll(database, sql: "SELECT * FROM destination ORDER BY name").map { row in
            var status = QueueStatus(destination: row["name"])
            status.waiting = row["waiting"]
            status.waitingBytes = row["waitingBytes"]
            status.deadLetters = row["deadLetters"]
            status.appended = row["appended"]
            status.delivered = row["delivered"]
            status.retried = row["retried"]
            status.refused = row["refused"]
            status.droppedByAge = row["droppedByAge"]
            status.droppedBySize = row["droppedBySize"]
            status.droppedByHand = row["droppedByHand"]
            status.superseded = row["superseded"]
            status.droppedBySettings = row["droppedBySettings"]
            status.failingSince = (row["failingSince"] as Int64?).map { Timestamp(nanoseconds: $0 &* 1_000_000) }
            status.failures = row["failures"]
            status.lastError = row["lastError"]
            status.notBefore = (row["notBefore"] as Int64?).map { Timestamp(nanoseconds: $0 &* 1_000_000) }
            return status
        }
    }

    /// Returns the dead letters of a destination, oldest first.
    func deadLetters(of destination: Int64, limit: Int) throws -> [OutboxEntry] {
        try entries(
            """
            SELECT q.sequence, q.attempts, notification.record, q.refusal FROM deadLetter AS q
            JOIN notification ON notification.sequence = q.sequence
            WHERE q.destination = ? ORDER BY q.sequence LIMIT ?
            """, [destination, limit])
    }

    /// Returns the notifications that wait for a destination, oldest first.
    func waiting(for destination: Int64, limit: Int) throws -> [OutboxEntry] {
        try entries(
            """
            SELECT q.sequence, q.attempts, notification.record, NULL FROM delivery AS q
            JOIN notification ON notification.sequence = q.sequence
            WHERE q.destination = ? ORDER BY q.sequence LIMIT ?
            """, [destination, limit])
    }

    private func entries(_ sql: String, _ arguments: StatementArguments) throws -> [OutboxEntry] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).compactMap { row in
            OutboxRecord.decode(row[2]).map {
                OutboxEntry(sequence: row[0], notification: $0, attempts: row[1], refusal: row[3])
            }
        }
    }

    /// Puts dead letters back into the queue, at their old positions, and makes the queue's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all dead letters.
    ///   - destination: the queue's number.
    /// - Returns: the number of notifications that were put back.
    func retry(_ id: NotificationID?, of destination: Int64) throws -> Int {
        let sequences = try deadLetterSequences(id, of: destination)
        for sequence in sequences {
            try run(
                """
                INSERT OR IGNORE INTO delivery (destination, sequence, bytes, isHeartbeat, isRepeated, attempts)
                SELECT p.destination, p.sequence, length(n.record), 0, p.isRepeated, 0 FROM deadLetter AS p
                JOIN notification AS n ON n.sequence = p.sequence
                WHERE p.destination = ?1 AND p.sequence = ?2
                """, [destination, sequence])
            if database.changesCount > 0 {
                try run(
                    """
                    UPDATE destination SET waiting = waiting + 1, waitingBytes = waitingBytes
                        + (SELECT bytes FROM delivery WHERE destination = ?1 AND sequence = ?2)
                    WHERE number = ?1
                    """, [destination, sequence])
            }
            try removeDeadLetter(sequence, of: destination)
        }
        try run("UPDATE destination SET notBefore = NULL WHERE number = ?", [destination])
        return sequences.count
    }

    /// Drops dead letters and, where asked, notifications that wait.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all.
    ///   - destination: the queue's number.
    ///   - deadLettersOnly: false to drop notifications that wait as well.
    /// - Returns: the number of notifications that were dropped.
    func drop(_ id: NotificationID?, of destination: Int64, deadLettersOnly: Bool) throws -> Int {
        var dropped = 0
        for sequence in try deadLetterSequences(id, of: destination)
        where try removeDeadLetter(sequence, of: destination) {
            dropped += 1
        }
        if !deadLettersOnly {
            let waiting =
                if let id {
                    try Int64.fetchAll(
                        database, sql: "SELECT sequence FROM notification WHERE id = ?",
                        arguments: [id.bytes])
                } else {
                    try Int64.fetchAll(
                        database, sql: "SELECT sequence FROM delivery WHERE destination = ?", arguments: [destination])
                }
            for sequence in waiting where try remove(sequence, from: destination) { dropped += 1 }
        }
        try count("droppedByHand", dropped, of: destination)
        return dropped
    }

    private func deadLetterSequences(_ id: NotificationID?, of destination: Int64) throws -> [Int64] {
        guard let id else {
            return try Int64.fetchAll(
                database, sql: "SELECT sequence FROM deadLetter WHERE destination = ? ORDER BY sequence",
                arguments: [destination])
        }
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT q.sequence FROM deadLetter AS q JOIN notification ON notification.sequence = q.sequence
                WHERE q.destination = ? AND notification.id = ?
                """, arguments: [destination, id.bytes])
    }
}
