import BeaconModel
import GRDB

extension OutboxTables {
    /// How all queues stand, by name.
    func status() throws -> [QueueStatus] {
        try Row.fetchAll(database, sql: "SELECT * FROM destination ORDER BY name").map { row in
            var status = QueueStatus(destination: row["name"])
            status.waiting = row["waiting"]
            status.waitingBytes = row["waitingBytes"]
            status.parked = row["parked"]
            status.appended = row["appended"]
            status.delivered = row["delivered"]
            status.retried = row["retried"]
            status.refused = row["refused"]
            status.droppedByAge = row["droppedByAge"]
            status.droppedBySize = row["droppedBySize"]
            status.droppedByHand = row["droppedByHand"]
            status.superseded = row["superseded"]
            status.failures = row["failures"]
            status.lastError = row["lastError"]
            status.notBefore = (row["notBefore"] as Int64?).map { Timestamp(nanoseconds: $0 &* 1_000_000) }
            return status
        }
    }

    /// What waits or is parked, oldest first: the parked of each destination, then the waiting.
    func entries(of destination: Int64, parked: Bool, limit: Int) throws -> [OutboxEntry] {
        let sql =
            parked
            ? """
            SELECT q.sequence, q.attempts, notification.record, q.refusal FROM parked AS q
            JOIN notification ON notification.sequence = q.sequence
            WHERE q.destination = ? ORDER BY q.sequence LIMIT ?
            """
            : """
            SELECT q.sequence, q.attempts, notification.record, NULL FROM delivery AS q
            JOIN notification ON notification.sequence = q.sequence
            WHERE q.destination = ? ORDER BY q.sequence LIMIT ?
            """
        return try Row.fetchAll(database, sql: sql, arguments: [destination, limit]).compactMap { row in
            OutboxRecord.decode(row[2]).map {
                OutboxEntry(sequence: row[0], notification: $0, attempts: row[1], refusal: row[3])
            }
        }
    }

    /// Puts back into a queue what was refused for good, at its old place, and lets the queue try at once.
    ///
    /// - Parameter id: the notification; nil for all that are parked.
    /// - Returns: how many were put back.
    func retry(_ id: NotificationID?, of destination: Int64) throws -> Int {
        let sequences = try parkedSequences(id, of: destination)
        for sequence in sequences {
            try run(
                """
                INSERT OR IGNORE INTO delivery (destination, sequence, bytes, isHeartbeat, attempts)
                SELECT p.destination, p.sequence, length(n.record), 0, 0 FROM parked AS p
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
            try unpark(sequence, of: destination)
        }
        try run("UPDATE destination SET notBefore = NULL WHERE number = ?", [destination])
        return sequences.count
    }

    /// Drops what waits or is parked.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all.
    ///   - parkedOnly: whether to leave what waits.
    /// - Returns: how many were dropped.
    func drop(_ id: NotificationID?, of destination: Int64, parkedOnly: Bool) throws -> Int {
        var dropped = 0
        for sequence in try parkedSequences(id, of: destination) where try unpark(sequence, of: destination) {
            dropped += 1
        }
        if !parkedOnly {
            let waiting =
                if let id {
                    try Int64.fetchAll(
                        database, sql: "SELECT sequence FROM notification WHERE id = ?",
                        arguments: [NotificationKey.bytes(of: id)])
                } else {
                    try Int64.fetchAll(
                        database, sql: "SELECT sequence FROM delivery WHERE destination = ?", arguments: [destination])
                }
            for sequence in waiting where try leave(sequence, from: destination) { dropped += 1 }
        }
        try count("droppedByHand", dropped, of: destination)
        return dropped
    }

    private func parkedSequences(_ id: NotificationID?, of destination: Int64) throws -> [Int64] {
        guard let id else {
            return try Int64.fetchAll(
                database, sql: "SELECT sequence FROM parked WHERE destination = ? ORDER BY sequence",
                arguments: [destination])
        }
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT parked.sequence FROM parked JOIN notification ON notification.sequence = parked.sequence
                WHERE parked.destination = ? AND notification.id = ?
                """, arguments: [destination, NotificationKey.bytes(of: id)])
    }
}
