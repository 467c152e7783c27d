import GRDB

extension OutboxTables {
    /// Stores the outcomes of entries that were sent.
    ///
    /// - Returns: the number of dead letters that were dropped for the new ones.
    func resolve(_ resolution: QueueResolution, of destination: Int64, limits: OutboxLimits) throws -> Int {
        var delivered = 0
        for sequence in resolution.delivered where try remove(sequence, from: destination) { delivered += 1 }
        if delivered > 0 { try count("delivered", delivered, of: destination) }
        var unwanted = 0
        for sequence in resolution.unwanted where try remove(sequence, from: destination) { unwanted += 1 }
        if unwanted > 0 { try count("droppedBySettings", unwanted, of: destination) }

        for refused in resolution.refused {
            // It becomes a dead letter before it is removed from the queue, so that the notification is not deleted in
            // between.
            try run(
                """
                INSERT OR REPLACE INTO deadLetter (destination, sequence, attempts, refusal, isRepeated)
                SELECT destination, sequence, attempts + 1, ?, isRepeated FROM delivery WHERE destination = ? AND sequence = ?
                """, [refused.reason, destination, refused.sequence])
            guard try remove(refused.sequence, from: destination) else { continue }
            try run(
                "UPDATE destination SET deadLetters = deadLetters + 1, refused = refused + 1 WHERE number = ?",
                [destination])
        }
        var dropped = 0
        if !resolution.refused.isEmpty { dropped = try enforceDeadLetterBound(of: destination, limits: limits) }

        if let failure = resolution.failure {
            try run(
                "UPDATE delivery SET attempts = attempts + 1 WHERE destination = ? AND sequence = ?",
                [destination, failure.sequence])
            try run(
                """
                UPDATE destination
                SET retried = retried + 1, failures = ?, failingSince = ?, lastError = ?, notBefore = ?
                WHERE number = ?
                """, [failure.failures, failure.since, failure.reason, failure.notBefore, destination])
        } else if resolution.isRecovery {
            try run(
                """
                UPDATE destination SET failures = 0, failingSince = NULL, lastError = NULL, notBefore = NULL
                WHERE number = ?
                """, [destination])
        }
        return dropped
    }

    /// Makes a notification that was just put into a queue a dead letter of it.
    ///
    /// - Returns: the number of dead letters that were dropped for it.
    func refuse(
        _ notification: EncodedNotification, _ reason: String, of destination: Int64, limits: OutboxLimits
    ) throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT sequence FROM notification WHERE id = ?")
        guard let sequence = try Int64.fetchOne(statement, arguments: [notification.idBytes]) else { return 0 }
        return try resolve(
            QueueResolution(refused: [.init(sequence: sequence, reason: reason)]), of: destination, limits: limits)
    }

    /// Drops notifications that wait until the queue is within its bounds: first those that later ones repeat, then
    /// any, the oldest first.
    ///
    /// - Returns: the number of notifications that were dropped.
    func enforceBounds(of destination: Int64, limits: OutboxLimits) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT waiting, waitingBytes FROM destination WHERE number = ?")
        guard let row = try Row.fetchOne(statement, arguments: [destination]) else { return 0 }
        var (waiting, bytes): (Int, Int) = (row[0], row[1])
        guard waiting > limits.maximumEntries || bytes > limits.maximumBytes else { return 0 }
        var dropped = 0
        for condition in ["AND isRepeated", ""] {
            let oldest = try database.cachedStatement(
                sql: """
                    SELECT sequence, bytes FROM delivery WHERE destination = ? \(condition) ORDER BY sequence LIMIT 256
                    """)
            while waiting > limits.maximumEntries || bytes > limits.maximumBytes {
                let rows = try Row.fetchAll(oldest, arguments: [destination])
                if rows.isEmpty { break }
                for row in rows where waiting > limits.maximumEntries || bytes > limits.maximumBytes {
                    try remove(row[0], from: destination)
                    waiting -= 1
                    bytes -= row[1]
                    dropped += 1
                }
            }
        }
        try count("droppedBySize", dropped, of: destination)
        return dropped
    }

    /// Drops dead letters until they are within their bound: first those that later notifications repeat, then any, the
    /// oldest first.
    ///
    /// - Returns: the number that were dropped.
    private func enforceDeadLetterBound(of destination: Int64, limits: OutboxLimits) throws -> Int {
        let count = try Int.fetchOne(
            database, sql: "SELECT deadLetters FROM destination WHERE number = ?", arguments: [destination])
        let excess = (count ?? 0) - limits.maximumDeadLetters
        guard excess > 0 else { return 0 }
        let oldest = try Int64.fetchAll(
            database,
            sql: "SELECT sequence FROM deadLetter WHERE destination = ? ORDER BY isRepeated DESC, sequence LIMIT ?",
            arguments: [destination, excess])
        for sequence in oldest { try removeDeadLetter(sequence, of: destination) }
        try self.count("droppedBySize", oldest.count, of: destination)
        return oldest.count
    }

    /// Drops notifications that have waited, or been dead letters, since before a moment.
    ///
    /// - Parameter moment: in milliseconds since 1970.
    /// - Returns: the number of notifications that were dropped, by destination.
    func expire(before moment: Int64) throws -> [String: Int] {
        var dropped: [String: Int] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT number, name FROM destination") {
            let number: Int64 = row[0]
            var count = 0
            for (table, remove) in [("delivery", remove), ("deadLetter", removeDeadLetter)] {
                let oldest = try database.cachedStatement(
                    sql: """
                        SELECT q.sequence, notification.addedAt FROM \(table) AS q
                        JOIN notification ON notification.sequence = q.sequence
                        WHERE q.destination = ? ORDER BY q.sequence LIMIT 256
                        """)
                // Rows are in the order of their arrival, so that the first that is young enough ends the search.
                search: while true {
                    let rows = try Row.fetchAll(oldest, arguments: [number])
                    if rows.isEmpty { break }
                    for row in rows {
                        if row[1] as Int64 >= moment { break search }
                        _ = try remove(row[0], number)
                        count += 1
                    }
                }
            }
            guard count > 0 else { continue }
            try self.count("droppedByAge", count, of: number)
            dropped[row[1]] = count
        }
        return dropped
    }
}
