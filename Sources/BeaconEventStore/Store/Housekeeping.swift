import BeaconModel
import GRDB

/// Work in small pieces that keeps the file within its bounds. A piece takes some milliseconds, so that it delays no
/// append for long.
extension StepWriter {
    /// The number of events in a piece.
    private static let piece = 500

    /// Makes consumers that exceed their bounds skip events: of too many, those with the lowest priority first; of too
    /// old ones, all.
    ///
    /// - Returns: Whether there is more to do.
    mutating func skip() throws -> Bool {
        var isMore = false
        for index in ledger.consumers.indices {
            var consumer = ledger.consumers[index]
            if try skipOld(&consumer) || skipExcess(&consumer) { isMore = true }
            ledger.consumers[index] = consumer
        }
        return isMore
    }

    private mutating func skipOld(_ consumer: inout ConsumerStatus) throws -> Bool {
        let position = consumer.position
        guard position < ledger.sequence else { return false }
        let oldest = now - consumer.limits.age.milliseconds
        var (skipped, examined, last) = (0, 0, position)
        try tables.events("number > ?", [position], limit: Self.piece) { event in
            guard let event else { return true }
            guard event.arrival.milliseconds < oldest else { return false }
            examined += 1
            last = event.number
            if consumer.wants(event) {
                consumer.count(event.event, -1)
                skipped += 1
            }
            return true
        }
        guard last > position else { return false }
        consumer.move(to: last)
        consumer.droppedByAge += skipped
        note(skipped, of: consumer, "they waited too long")
        return examined == Self.piece
    }

    private mutating func skipExcess(_ consumer: inout ConsumerStatus) throws -> Bool {
        var (skipped, examined) = (0, 0)
        while consumer.isBehind, examined < Self.piece {
            guard let priority = consumer.pending.firstIndex(where: { $0.count > 0 }) else { break }
            let first = max(consumer.position, consumer.skips[priority])
            var last = first
            try tables.events("number > ? AND priority = ?", [first, priority], limit: Self.piece) { event in
                guard consumer.isBehind, consumer.pending[priority].count > 0 else { return false }
                examined += 1
                guard let event else { return true }
                last = event.number
                if consumer.wants(event) {
                    consumer.count(event.event, -1)
                    skipped += 1
                }
                consumer.skips[priority] = event.number
                return true
            }
            guard last > first else {
                // An event was counted that is no longer readable.
                try consumer.recount(tables, through: ledger.sequence)
                break
            }
        }
        guard skipped > 0 else { return false }
        consumer.droppedBySize += skipped
        note(skipped, of: consumer, "more wait than its bounds allow")
        return consumer.isBehind
    }

    /// Deletes the oldest events that are beyond the history's bounds and that all consumers have passed.
    ///
    /// - Returns: Whether there may be more to do.
    mutating func retain() throws -> Bool {
        let (limits, passed) = (settings.retention, ledger.passed)
        let oldest = now - limits.age.milliseconds
        var last: Int64 = 0
        var left = ledger.events
        var count = 0
        var traces: [EventLookup.Entry] = []
        try tables.each(
            "SELECT \(StoreRow.columns) FROM event WHERE number <= ? ORDER BY number LIMIT ?", [passed, settings.piece]
        ) { row in
            let number = try row.integer(0)
            // An event that cannot be read counts as old.
            let event = try? row.event()
            guard
                left.count > limits.events || left.bytes > limits.bytes
                    || (event?.arrival.milliseconds ?? .min) < oldest
            else {
                return false
            }
            if let event, number <= ledger.indexed { traces += EventLookup.entries(of: event) }
            left -= Amount(count: 1, bytes: event?.event.size ?? Event.overhead)
            count += 1
            last = number
            return true
        }
        if count > 0 {
            try EventLookup.remove(traces, from: tables)
            try tables.run("DELETE FROM event WHERE number <= ?", [last])
            ledger.events = Amount(count: max(left.count, 0), bytes: max(left.bytes, 0))
            if last > ledger.indexed { try EventLookup.setEnd(last, &ledger, tables) }
        }
        // Ids are kept longer than events, and never deleted earlier.
        let first = try tables.first("SELECT min(number) FROM event") { try $0.optionalInteger(0) }
        let forgotten = min(ledger.sequence - Int64(limits.names), (first ?? .max) ?? .max)
        try tables.run(
            """
            DELETE FROM known WHERE number IN (SELECT number FROM known WHERE number < ? ORDER BY number LIMIT ?)
            """, [forgotten, settings.piece])
        return count == settings.piece || tables.database.changesCount == settings.piece
    }

    /// Drops dead letters, and events that wait out of order, if they are older than their consumers' bounds.
    mutating func expireDeadLetters() throws {
        for index in ledger.consumers.indices where ledger.consumers[index].due.count > 0 {
            var consumer = ledger.consumers[index]
            let (name, oldest) = (consumer.name, now - consumer.limits.age.milliseconds)
            let old = try tables.first(
                """
                SELECT count(*), coalesce(sum(\(Event.sizeSQL)), 0) FROM refused
                WHERE consumer = ? AND state = 1 AND refusedAt < ?
                """, [name, oldest]
            ) { Amount(count: try $0.count(0), bytes: try $0.count(1)) }
            guard let old, old.count > 0 else { continue }
            try tables.run("DELETE FROM refused WHERE consumer = ? AND state = 1 AND refusedAt < ?", [name, oldest])
            consumer.due -= old
            consumer.droppedByAge += old.count
            ledger.consumers[index] = consumer
            note(old.count, of: consumer, "they waited too long")
        }
        for index in ledger.consumers.indices where ledger.consumers[index].deadLetters > 0 {
            var consumer = ledger.consumers[index]
            try tables.run(
                "DELETE FROM refused WHERE consumer = ? AND state = 0 AND refusedAt < ?",
                [consumer.name, now - consumer.limits.age.milliseconds])
            let count = tables.database.changesCount
            guard count > 0 else { continue }
            consumer.deadLetters -= count
            consumer.droppedByAge += count
            ledger.consumers[index] = consumer
            note(count, of: consumer, "they were dead letters for too long")
        }
    }
}
