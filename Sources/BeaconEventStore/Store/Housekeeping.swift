import BeaconModel
import Foundation
import GRDB

/// Work in small pieces that keeps the file within its bounds. A piece takes some milliseconds, so that it delays no
/// append for long.
extension StepWriter {
    /// The number of rows of a mailbox that are dropped at once.
    static let piece = 500

    /// Does a piece of the work.
    ///
    /// - Parameters:
    ///   - clock: the clocks.
    ///   - isExpiring: whether to look for old state, which reads all of it.
    /// - Returns: Whether there may be more.
    mutating func maintain(by clock: EventStoreClock, expiring isExpiring: Bool) throws -> Bool {
        // Until the wall clock is trusted, nothing is old.
        let canBeOld = clock.sinceBoot() / 1_000_000 >= ledger.trusted
        hasCounts = true
        for index in ledger.consumers.indices {
            if canBeOld, try dropOld(from: index) { return true }
            if try enforceBounds(of: index, MailState.waiting, limit: Self.piece) { return true }
        }
        if isExpiring, canBeOld, try expireState() { return true }
        return try review() || sweep(canBeOld) || forgetNames()
    }

    /// Drops events that have waited too long, and dead letters that were kept too long.
    private mutating func dropOld(from index: Int) throws -> Bool {
        let consumer = ledger.consumers[index]
        let oldest = now - consumer.limits.age.milliseconds
        for state in MailState.all where consumer.mail[state].count > 0 {
            // Events in order are also in the order of their arrivals, so the first young one ends the search.
            let isOrdered = state == MailState.pending
            var mail: [Mail] = []
            try tables.each(
                """
                SELECT \(Mail.columns), coalesce(d.since, e.arrival) FROM delivery AS d
                LEFT JOIN event AS e ON e.number = d.number WHERE \(Mail.isOf) AND d.state = ? AND d.number >= ? \
                \(isOrdered ? "" : "AND d.since < ?") ORDER BY d.number LIMIT \(Self.piece)
                """, consumer.key + [state, isOrdered ? consumer.first : 0] + (isOrdered ? [] : [oldest])
            ) { row in
                // An event that is missing counts as old.
                guard try row.optionalInteger(5) ?? .min < oldest else { return false }
                mail.append(try Mail(row))
                return true
            }
            let reason = state == MailState.dead ? "they were dead letters for too long" : "they waited too long"
            try remove(mail, from: index, \.droppedByAge, reason)
            if !mail.isEmpty { return true }
        }
        return false
    }

    // MARK: - History

    /// Moves on through the events beyond the history's bounds, oldest first, and deletes those that no consumer needs.
    /// So the file has as many events as the bounds allow and, beyond these, those that wait.
    ///
    /// - Returns: Whether there may be more to do.
    mutating func sweep(_ canBeOld: Bool) throws -> Bool {
        let limits = settings.retention
        let oldest = canBeOld ? now - limits.age.milliseconds : .min
        var left = ledger.events
        left -= ledger.behind
        var examined: [(number: Int64, bytes: Int)] = []
        try tables.each(
            """
            SELECT number, arrival, \(Event.sizeSQL) FROM event WHERE number > ?
            ORDER BY number LIMIT ?
            """, [ledger.swept, settings.piece]
        ) { row in
            // A value that cannot be read counts as old.
            let arrival = (try? row.integer(1)) ?? .min
            guard left.count > limits.events || left.bytes > limits.bytes || arrival < oldest else { return false }
            let bytes = (try? row.count(2)) ?? Event.overhead
            left -= Amount(count: 1, bytes: bytes)
            examined.append((try row.integer(0), bytes))
            return true
        }
        for (number, bytes) in examined {
            ledger.swept = number
            ledger.behind += Amount(count: 1, bytes: bytes)
            try deleteUnlessNeeded(number)
        }
        return examined.count == settings.piece
    }

    /// Looks again at events that stayed because they waited, after many of them may have been released.
    private mutating func review() throws -> Bool {
        guard ledger.reviewed < ledger.swept, ledger.behind.count > 0 else { return false }
        var numbers: [Int64] = []
        try tables.each(
            "SELECT number FROM event WHERE number > ? AND number <= ? ORDER BY number LIMIT ?",
            [ledger.reviewed, ledger.swept, settings.piece]
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        for number in numbers { try deleteUnlessNeeded(number) }
        ledger.reviewed = numbers.last ?? .max
        return !numbers.isEmpty
    }

    /// Deletes an event beyond the history's bounds, unless a consumer needs it.
    mutating func deleteUnlessNeeded(_ number: Int64) throws {
        guard number <= ledger.swept else { return }
        let isNeeded = try tables.first(
            "SELECT 1 FROM delivery WHERE state IN (0, 1, 2) AND number = ?", [number]
        ) { _ in true }
        if isNeeded == true { return }
        let bytes = try tables.first("SELECT \(Event.sizeSQL) FROM event WHERE number = ?", [number]) {
            (try? $0.count(0)) ?? Event.overhead
        }
        guard let bytes else { return }
        try tables.run("DELETE FROM event WHERE number = ?", [number])
        ledger.events -= Amount(count: 1, bytes: bytes)
        ledger.behind -= Amount(count: 1, bytes: bytes)
    }

    /// Forgets old ids, but none of an event in the file. They have no index by number, so the search reads all ids in
    /// pieces, once for each sixteenth more than the bound.
    private mutating func forgetNames() throws -> Bool {
        // An id lives at least as long as its event.
        let bound = max(settings.retention.names, ledger.events.count)
        guard !ledger.lastName.isEmpty || ledger.names > bound + bound / 16 else { return false }
        let piece = settings.piece * 8
        var (count, old) = (0, [Data]())
        try tables.each(
            """
            SELECT id, number, EXISTS (SELECT 1 FROM event AS e WHERE e.number = k.number) FROM known AS k
            WHERE id > ? ORDER BY id LIMIT ?
            """, [ledger.lastName, piece]
        ) { row in
            count += 1
            ledger.lastName = try row.data(0, atMost: 16)
            let isOld = try row.integer(1) <= ledger.sequence - Int64(bound)
            if isOld, try row.integer(2) == 0 { old.append(ledger.lastName) }
            return true
        }
        for id in old { try tables.run("DELETE FROM known WHERE id = ?", [id]) }
        ledger.names -= old.count
        if count < piece { ledger.lastName = Data() }
        return count == piece
    }
}
