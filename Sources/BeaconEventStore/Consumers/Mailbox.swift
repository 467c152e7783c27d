import BeaconModel
import Foundation
import GRDB

/// A row of a mailbox.
struct Mail {
    var number: Int64
    var state: Int
    var bytes: Int
    var attempts: Int
    /// The consumers of the row.
    var set: Int64

    /// The columns and the conditions of rows, in a search that calls the table `d`.
    static let columns = "d.number, d.state, d.bytes, d.attempts, d.destinations"

    /// The condition that a consumer has the row; ``ConsumerStatus/key`` has its arguments.
    static let isOf = "d.bank = ? AND d.destinations & ?"

    /// Whether it is a certain row.
    static let isRow = "state = ? AND number = ? AND bank = ? AND destinations = ?"

    init(_ row: StoreRow) throws {
        (number, state) = (try row.integer(0), try row.count(1))
        (bytes, attempts, set) = (try row.count(2), try row.count(3), try row.integer(4))
        guard MailState.all.contains(state) else { throw DamagedRow(description: "a delivery is in state \(state)") }
    }
}

/// Reads of mailboxes.
extension StoreTables {
    /// Reads consumers, by name.
    func consumers() throws -> [ConsumerStatus] {
        var consumers: [ConsumerStatus] = []
        try each("SELECT \(ConsumerStatus.columns) FROM destination ORDER BY name") { row in
            consumers.append(try ConsumerStatus(row))
            return true
        }
        return consumers
    }

    /// Counts the rows of all mailboxes, by state, and finds in each the first event that waits in order, and the one
    /// of the lowest priority that waits.
    ///
    /// - Returns: The consumers with their counts.
    /// - Throws: ``DamagedRow`` for an event that no consumer could read from the file.
    func countMail(of consumers: [ConsumerStatus], upTo sequence: Int64) throws -> [ConsumerStatus] {
        var consumers = consumers
        for index in consumers.indices {
            consumers[index].mail = ConsumerStatus(name: "").mail
            (consumers[index].latest, consumers[index].first) = (nil, sequence + 1)
        }
        try each(
            """
            SELECT state, bank, destinations, count(*), sum(bytes), min(number), max(number),
                max(CASE priority WHEN 0 THEN number END) FROM delivery GROUP BY state, bank, destinations
            """
        ) { row in
            let (state, bank, set) = (try row.count(0), try row.count(1), try row.integer(2))
            let amount = Amount(count: try row.count(3), bytes: try row.count(4))
            let (first, last, latest) = (try row.integer(5), try row.integer(6), try row.optionalInteger(7))
            let receivers = consumers.indices.filter { consumers[$0].bank == bank && set & consumers[$0].bit != 0 }
            guard MailState.all.contains(state), first > 0, last <= sequence,
                !receivers.isEmpty, set == receivers.reduce(0, { $0 | consumers[$1].bit })
            else {
                throw DamagedRow(description: "a delivery has an unknown state, number or destination")
            }
            for index in receivers {
                consumers[index].mail[state] += amount
                let sum = consumers[index].mail[state]
                guard max(sum.count, sum.bytes) <= StoreRow.maximumCount else {
                    throw DamagedRow(description: "the deliveries to a destination have too many bytes")
                }
                if state == MailState.pending { consumers[index].first = min(consumers[index].first, first) }
                if MailState.waiting.contains(state), let latest {
                    consumers[index].latest = max(consumers[index].latest ?? 0, latest)
                }
            }
            return true
        }
        return consumers
    }

    /// Returns the rows of a mailbox that match a condition.
    func mail(
        of consumer: ConsumerStatus, _ condition: String, _ arguments: StatementArguments = []
    ) throws -> [Mail] {
        var mail: [Mail] = []
        try each(
            "SELECT \(Mail.columns) FROM delivery AS d WHERE \(Mail.isOf) AND \(condition)", consumer.key + arguments
        ) { row in
            mail.append(try Mail(row))
            return true
        }
        return mail
    }

    /// Returns a consumer's events in a state, in order, each with a reader of other columns of its row.
    ///
    /// - Returns: The events, and the numbers of those that cannot be read.
    func events<Value>(
        for consumer: ConsumerStatus, in state: Int, limit: Int, _ columns: String = "d.number",
        _ read: (StoredEvent, StoreRow) throws -> Value
    ) throws -> (events: [Value], damaged: [Int64]) {
        var (events, damaged) = ([Value](), [Int64]())
        let all = consumer.mail[state].count
        guard all > 0, limit > 0 else { return ([], []) }
        try each(
            """
            SELECT d.number, d.body, \(StoreRow.columns), \(columns) FROM delivery AS d
            LEFT JOIN event AS e ON e.number = d.number WHERE \(Mail.isOf) AND d.state = ? AND d.number >= ?
            ORDER BY d.number
            """, consumer.key + [state, state == MailState.pending ? consumer.first : 0]
        ) { row in
            do {
                var event = try row.event(2)
                // An addressed event with its own content.
                if let body = try row.optionalData(1, atMost: Event.maximumBody) {
                    (event.event.body, event.event.audience) = (body, nil)
                }
                events.append(try read(event, row))
            } catch {
                damaged.append(try row.integer(0))
            }
            // Behind its last event are only those of other consumers.
            return events.count < limit && events.count + damaged.count < all
        }
        return (events, damaged)
    }

    /// Returns a consumer's next events: addressed and retried ones if there are any, otherwise those in order.
    ///
    /// - Returns: The batch, which may be empty, and the numbers of unreadable events.
    func nextBatch(of consumer: ConsumerStatus, limit: Int) throws -> (batch: EventBatch, damaged: [Int64]) {
        let (name, from) = (consumer.name, consumer.first - 1)
        let first = try events(for: consumer, in: MailState.redelivered, limit: limit) { event, _ in event }
        guard first.events.isEmpty else {
            return (EventBatch(consumer: name, events: first.events, isOutOfOrder: true, from: from), first.damaged)
        }
        let next = try events(for: consumer, in: MailState.pending, limit: limit) { event, _ in event }
        return (
            EventBatch(consumer: name, events: next.events, isOutOfOrder: false, from: from),
            first.damaged + next.damaged
        )
    }

    /// Returns the dead letters of a consumer, oldest first.
    func refused(by consumer: ConsumerStatus, limit: Int) throws -> [RefusedEvent] {
        let columns = "d.attempts, d.reason, coalesce(d.since, e.arrival)"
        return try events(for: consumer, in: MailState.dead, limit: limit, columns) { event, row in
            RefusedEvent(
                event: event, reason: try row.text(18, atMost: 1 << 16), attempts: try row.count(17),
                time: Timestamp(milliseconds: try row.integer(19)))
        }.events
    }
}

/// Changes of mailboxes.
extension StepWriter {
    /// Puts an event into mailboxes that do not contain it.
    ///
    /// - Parameters:
    ///   - number: its number.
    ///   - priority: its priority.
    ///   - size: the size of its body.
    ///   - indices: the consumers.
    ///   - state: the state.
    ///   - body: the body, if it differs from the stored event's.
    mutating func post(
        _ number: Int64, _ priority: Event.Priority, size: Int, to indices: [Int], _ state: Int = MailState.pending,
        body: Data? = nil
    ) throws {
        let bytes = size + Event.overhead
        var sets: [Int: Int64] = [:]
        for index in indices {
            if priority == .latest {
                let old = try ledger.consumers[index].latest.flatMap { try waiting($0, for: index) }
                try remove([old].compactMap { $0 }, from: index, \.superseded)
                ledger.consumers[index].latest = number
            }
            var consumer = ledger.consumers[index]
            sets[consumer.bank, default: 0] |= consumer.bit
            if state == MailState.pending, consumer.mail[state].count == 0 { consumer.first = number }
            consumer.mail[state] += Amount(count: 1, bytes: bytes)
            consumer.appended += 1
            ledger.consumers[index] = consumer
            ledger.changedConsumers.insert(consumer.name)
        }
        let since = state == MailState.pending ? nil : now
        for (bank, set) in sets {
            try tables.run(
                "INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, 0, NULL, ?)",
                [state, number, bank, set, Int64(priority.rawValue), bytes, since, body])
        }
    }

    /// Takes a row out of a consumer's mailbox.
    private mutating func take(_ mail: Mail, from index: Int) throws {
        let consumer = ledger.consumers[index]
        let rest = mail.set & ~consumer.bit
        let key: StatementArguments = [mail.state, mail.number, consumer.bank, mail.set]
        if rest == 0 {
            try tables.run("DELETE FROM delivery WHERE \(Mail.isRow)", key)
        } else {
            try tables.run("UPDATE delivery SET destinations = ? WHERE \(Mail.isRow)", [rest] + key)
        }
        ledger.consumers[index].mail[mail.state] -= Amount(count: 1, bytes: mail.bytes)
    }

    /// Moves an event of a mailbox to another state.
    private mutating func move(_ mail: Mail, of index: Int, to state: Int, attempts: Int, _ reason: String?) throws {
        let consumer = ledger.consumers[index]
        try tables.run(
            """
            INSERT INTO delivery SELECT ?, number, bank, ?, priority, bytes, ?, ?, ?, body FROM delivery
            WHERE \(Mail.isRow)
            """, [state, consumer.bit, now, attempts, reason, mail.state, mail.number, consumer.bank, mail.set])
        try take(mail, from: index)
        ledger.consumers[index].mail[state] += Amount(count: 1, bytes: mail.bytes)
    }

    /// Removes rows of a mailbox, and counts them.
    mutating func remove(
        _ mail: [Mail], from index: Int, _ count: WritableKeyPath<ConsumerStatus, Int>, _ reason: String? = nil
    ) throws {
        guard !mail.isEmpty else { return }
        let name = ledger.consumers[index].name
        for row in mail {
            try take(row, from: index)
            if row.number == ledger.consumers[index].latest { ledger.consumers[index].latest = nil }
            if mail.count <= Self.piece { try deleteUnlessNeeded(row.number) }
        }
        // Housekeeping deletes the events of many rows.
        if mail.count > Self.piece { ledger.reviewed = 0 }
        ledger.consumers[index][keyPath: count] += mail.count
        ledger.changedConsumers.insert(name)
        if let reason { skips.append((name, mail.count, reason)) }
    }

    /// Drops events of a mailbox that exceed its bounds: the lowest priority first, and among these the oldest.
    ///
    /// Finding them reads the whole mailbox. A large one therefore gets room for more than the next event.
    ///
    /// - Returns: Whether any were dropped.
    @discardableResult
    mutating func enforceBounds(of index: Int, _ states: ClosedRange<Int>, limit: Int = .max) throws -> Bool {
        let consumer = ledger.consumers[index]
        guard consumer.isBeyondBounds(states) else { return false }
        var bounds = consumer.bounds(of: states)
        if bounds.count > 1_000 {
            bounds = Amount(count: bounds.count - bounds.count / 64, bytes: bounds.bytes - bounds.bytes / 64)
        }
        var left = consumer.amount(states)
        var mail: [Mail] = []
        try tables.each(
            """
            SELECT \(Mail.columns) FROM delivery AS d WHERE \(Mail.isOf) AND state BETWEEN ? AND ?
            ORDER BY priority, number LIMIT ?
            """, consumer.key + [states.lowerBound, states.upperBound, limit]
        ) { row in
            guard left.count > bounds.count || left.bytes > bounds.bytes else { return false }
            let one = try Mail(row)
            mail.append(one)
            left -= Amount(count: 1, bytes: one.bytes)
            return true
        }
        let isDead = states.contains(MailState.dead)
        try remove(
            mail, from: index, \.droppedBySize,
            isDead ? "more dead letters are kept than its bounds allow" : "more wait than its bounds allow")
        return !mail.isEmpty
    }

    /// Addresses an event to consumers that do not have it, whatever their filters. It waits before the events in
    /// order.
    mutating func address(_ event: Event, to consumers: [String]) throws {
        var own = event
        own.audience = []
        var receipt = Receipt()
        let number = try insert(own, &receipt)
        var body: Data?
        if receipt.new == 0 {
            let known = try tables.first("SELECT body FROM event WHERE number = ?", [number]) {
                try $0.data(0, atMost: Event.maximumBody)
            }
            if known == nil {
                // The history has deleted it.
                try tables.insert(StoredEvent(number: number, arrival: Timestamp(milliseconds: now), event: own))
                ledger.events += Amount(count: 1, bytes: event.size)
                if number <= ledger.swept { ledger.behind += Amount(count: 1, bytes: event.size) }
            }
            if let known, known != event.body { body = event.body }
        }
        let receivers = try ledger.consumers.indices.filter { index in
            let consumer = ledger.consumers[index]
            return try consumer.isActive && consumers.contains(consumer.name)
                && tables.mail(of: consumer, "state IN (0, 1, 2) AND number = ?", [number]).isEmpty
        }
        try post(number, event.priority, size: event.body.count, to: receivers, MailState.redelivered, body: body)
        for index in receivers { try enforceBounds(of: index, MailState.waiting) }
        try deleteUnlessNeeded(number)
    }

    // MARK: - Consumers

    /// Adds or continues consumers, and pauses others.
    mutating func apply(_ setup: EventStore.Setup) throws {
        let start = setup.after ?? ledger.sequence
        for (name, filter) in setup.consumers { try setConsumer(name, filter, setup.limits, after: start) }
        for name in setup.paused {
            guard let index = ledger.index(of: name) else { continue }
            (ledger.consumers[index].limits, ledger.consumers[index].isActive) = (setup.limits, false)
        }
    }

    /// Adds a consumer, or continues one with another filter.
    mutating func setConsumer(
        _ name: String, _ filter: EventFilter, _ limits: ConsumerLimits, after number: Int64
    ) throws {
        ledger.changedConsumers.insert(name)
        if let index = ledger.index(of: name) {
            let isSame = ledger.consumers[index].filter == filter
            (ledger.consumers[index].limits, ledger.consumers[index].isActive) = (limits, true)
            ledger.consumers[index].filter = filter
            if !isSame { try dropUnselected(of: index) }
            return
        }
        var consumer = ConsumerStatus(name: name)
        (consumer.filter, consumer.limits) = (filter, limits)
        let slots = Set(ledger.consumers.map(\.slot))
        consumer.slot = (0...).first { !slots.contains($0) } ?? 0
        let index = ledger.consumers.firstIndex { $0.name > name } ?? ledger.consumers.endIndex
        ledger.consumers.insert(consumer, at: index)
        guard number < ledger.sequence else { return }
        var wanted: [(number: Int64, priority: Event.Priority, size: Int)] = []
        try tables.each(
            "SELECT number, priority, length(body), kind, region, audience FROM event WHERE number > ? ORDER BY number",
            [max(number, 0)]
        ) { row in
            let event = try? (number: row.integer(0), priority: row.priority(1), size: row.count(2))
            // An event that cannot be read is skipped.
            let isWanted = try? consumer.wants(row.text(3), row.optionalText(4), row.audience(5))
            if let event, isWanted == true { wanted.append(event) }
            return true
        }
        for event in wanted { try post(event.number, event.priority, size: event.size, to: [index]) }
    }

    /// Drops the waiting events that came by the filter, if the filter no longer selects them.
    private mutating func dropUnselected(of index: Int) throws {
        let consumer = ledger.consumers[index]
        var mail: [Mail] = []
        try tables.each(
            """
            SELECT \(Mail.columns), e.kind, e.region FROM delivery AS d LEFT JOIN event AS e ON e.number = d.number
            WHERE \(Mail.isOf) AND d.state = ? AND e.audience IS NULL
            """, consumer.key + [MailState.pending]
        ) { row in
            let isSelected = try? consumer.filter.selects(kind: row.text(5), region: row.optionalText(6))
            if isSelected != true { mail.append(try Mail(row)) }
            return true
        }
        try remove(mail, from: index, \.droppedByFilter, "its filter changed")
    }

    /// Removes a consumer with its mailbox.
    mutating func removeConsumer(_ name: String) throws {
        let consumer = ledger.consumers.remove(at: try index(ofListed: name))
        try tables.run("DELETE FROM destination WHERE name = ?", [consumer.name])
        let isOwn = "WHERE bank = ?1 AND destinations"
        try tables.run("DELETE FROM delivery \(isOwn) = ?2", consumer.key)
        try tables.run("UPDATE delivery SET destinations = destinations - ?2 \(isOwn) & ?2", consumer.key)
        ledger.reviewed = 0
    }

    /// Returns the index of a consumer that is not hidden.
    private func index(ofListed name: String) throws -> Int {
        guard let index = ledger.index(of: name), !ledger.consumers[index].isHidden else {
            throw EventStoreError.unknown(name, beside: ledger.consumers)
        }
        return index
    }

    // MARK: - Requests

    /// The rows of one event, or of all.
    private func mail(_ id: EventID?, of index: Int, _ states: String) throws -> [Mail] {
        let consumer = ledger.consumers[index]
        guard let id else { return try tables.mail(of: consumer, states) }
        guard let number = try number(of: id) else { return [] }
        return try tables.mail(of: consumer, "\(states) AND number = ?", [number])
    }

    /// Queues dead letters for another attempt, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - name: the consumer.
    /// - Returns: The number of queued dead letters.
    mutating func retry(_ id: EventID?, of name: String) throws -> Int {
        let index = try index(ofListed: name)
        let mail = try mail(id, of: index, "state = 2")
        for row in mail { try move(row, of: index, to: MailState.redelivered, attempts: 0, nil) }
        // Of the lowest priority only the newest waits.
        if !mail.isEmpty {
            let consumer = ledger.consumers[index]
            let latest = try tables.mail(of: consumer, "state < 2 AND priority = 0 ORDER BY number DESC")
            try remove(Array(latest.dropFirst()), from: index, \.superseded)
            ledger.consumers[index].latest = latest.first?.number
        }
        ledger.consumers[index].nextAttempt = nil
        ledger.changedConsumers.insert(ledger.consumers[index].name)
        return mail.count
    }

    /// Drops dead letters and, on request, waiting events.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all.
    ///   - name: the consumer.
    ///   - deadLettersOnly: false to drop waiting events as well.
    /// - Returns: The number of dropped events.
    mutating func drop(_ id: EventID?, of name: String, deadLettersOnly: Bool) throws -> Int {
        let index = try index(ofListed: name)
        let mail = try mail(id, of: index, deadLettersOnly ? "state = 2" : "state IN (0, 1, 2)")
        try remove(mail, from: index, \.droppedOnRequest)
        ledger.changedConsumers.insert(ledger.consumers[index].name)
        return mail.count
    }

    /// Removes events from a mailbox that cannot be read.
    mutating func discard(_ numbers: [Int64], of name: String) throws {
        guard let index = ledger.index(of: name) else { return }
        for number in numbers {
            let mail = try [waiting(number, for: index)].compactMap { $0 }
            try remove(mail, from: index, \.droppedOnRequest)
            ledger.consumers[index].droppedOnRequest -= mail.count
        }
    }

    // MARK: - Progress

    /// Returns whether progress is new, or was stored before.
    func verdict(on progress: Step.Progress) throws -> Result<Bool, EventStoreError> {
        guard let index = ledger.index(of: progress.consumer) else {
            return .failure(.unknown(progress.consumer, beside: ledger.consumers))
        }
        guard case .handled(let batch, _) = progress, !batch.events.isEmpty else { return .success(true) }
        let left = try batch.events.filter { try waiting($0.number, for: index) != nil }
        if left.isEmpty { return .success(false) }
        // Others may have been dropped since the batch was read. If another worker has handled them, it is at work on
        // the rest.
        let isPassed = batch.events.contains { $0.number <= ledger.consumers[index].passed }
        if batch.isOutOfOrder || !isPassed { return .success(true) }
        return .failure(
            EventStoreError(
                .conflict, "the consumer \"\(batch.consumer)\" has moved since the batch. Read its next events again"
            ))
    }

    /// Returns the row of a waiting event.
    private func waiting(_ number: Int64, for index: Int) throws -> Mail? {
        try tables.mail(of: ledger.consumers[index], "state IN (0, 1) AND number = ?", [number]).first
    }

    /// Stores progress that is new according to ``verdict(on:)``.
    mutating func store(_ progress: Step.Progress) throws {
        guard let index = ledger.index(of: progress.consumer) else { return }
        ledger.changedConsumers.insert(progress.consumer)
        switch progress {
        case .failed(_, let reason, let pause):
            var consumer = ledger.consumers[index]
            consumer.failures += 1
            consumer.retried += 1
            consumer.failingSince = consumer.failingSince ?? Timestamp(milliseconds: now)
            consumer.nextAttempt = Timestamp(milliseconds: now + pause)
            consumer.lastError = Self.printable(reason)
            ledger.consumers[index] = consumer
        case .handled(let batch, let refused):
            for event in batch.events {
                // An event that was dropped since changes nothing.
                guard let mail = try waiting(event.number, for: index) else { continue }
                if let reason = refused[event.number] {
                    try refuse(mail, Self.printable(reason), by: index)
                } else {
                    try remove([mail], from: index, \.handled)
                }
            }
            guard let last = batch.events.last?.number else { return }
            if !batch.isOutOfOrder {
                ledger.consumers[index].passed = max(ledger.consumers[index].passed, last)
                // Otherwise earlier events wait that the reader of the batch did not know.
                if ledger.consumers[index].first > batch.from {
                    ledger.consumers[index].first = max(ledger.consumers[index].first, last + 1)
                }
            }
            endFailures(of: batch.consumer)
            if !refused.isEmpty {
                hasCounts = true
                try enforceBounds(of: index, MailState.dead...MailState.dead)
            }
        }
    }

    /// Ends a series of failures after a delivery, even if a newer heartbeat replaced the event during the delivery.
    mutating func endFailures(of name: String) {
        guard let index = ledger.index(of: name) else { return }
        ledger.changedConsumers.insert(name)
        (ledger.consumers[index].failures, ledger.consumers[index].failingSince) = (0, nil)
        (ledger.consumers[index].nextAttempt, ledger.consumers[index].lastError) = (nil, nil)
    }

    private mutating func refuse(_ mail: Mail, _ reason: String, by index: Int) throws {
        let consumer = ledger.consumers[index]
        if mail.number == consumer.latest { ledger.consumers[index].latest = nil }
        let attempts = (mail.state == MailState.pending ? consumer.failures : mail.attempts) + 1
        try move(mail, of: index, to: MailState.dead, attempts: attempts, reason)
        ledger.consumers[index].refused += 1
    }

    /// Returns a reason in the form in which the file stores it.
    private static func printable(_ reason: String) -> String {
        String(reason.prefix(1_000).map { $0 == "\0" ? " " : $0 })
    }
}
