import BeaconModel
import Foundation
import GRDB

/// A row of a mailbox.
struct Mail {
    var number: Int64
    var state: Int
    var bytes: Int
    var attempts: Int

    static let columns = "number, state, bytes, attempts"

    init(_ row: StoreRow) throws {
        (number, state) = (try row.integer(0), try row.count(1))
        (bytes, attempts) = (try row.count(2), try row.count(3))
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

    /// Counts the rows of a consumer's mailbox, by state, and finds the event of the lowest priority that waits.
    func countMail(of consumer: inout ConsumerStatus, upTo sequence: Int64) throws {
        (consumer.mail, consumer.latest) = (ConsumerStatus(name: "").mail, nil)
        try each(
            """
            SELECT state, count(*), sum(bytes), min(number), max(number), max(CASE priority WHEN 0 THEN number END)
            FROM delivery WHERE destination = ? GROUP BY state
            """, [consumer.name]
        ) { row in
            let state = try row.count(0)
            guard MailState.all.contains(state), try row.integer(3) > 0, try row.integer(4) <= sequence else {
                throw DamagedRow(description: "a delivery is in state \(state), or its number was never assigned")
            }
            consumer.mail[state] = Amount(count: try row.count(1), bytes: try row.count(2))
            if MailState.waiting.contains(state) { consumer.latest = try row.optionalInteger(5) ?? consumer.latest }
            return true
        }
    }

    /// Returns the rows of a mailbox that match a condition.
    func mail(of name: String, _ condition: String, _ arguments: StatementArguments = []) throws -> [Mail] {
        var mail: [Mail] = []
        try each(
            "SELECT \(Mail.columns) FROM delivery WHERE destination = ? AND \(condition)", [name] + arguments
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
        for name: String, in state: Int, limit: Int, _ columns: String = "d.number",
        _ read: (StoredEvent, StoreRow) throws -> Value
    ) throws -> (events: [Value], damaged: [Int64]) {
        var (events, damaged) = ([Value](), [Int64]())
        try each(
            """
            SELECT d.number, d.body, \(StoreRow.columns), \(columns) FROM delivery AS d
            LEFT JOIN event AS e ON e.number = d.number WHERE d.destination = ? AND d.state = ? ORDER BY d.number
            """, [name.canonical, state]
        ) { row in
            guard events.count < limit else { return false }
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
            return true
        }
        return (events, damaged)
    }

    /// Returns a consumer's next events: addressed and retried ones if there are any, otherwise those in order.
    ///
    /// - Returns: The batch, which may be empty, and the numbers of unreadable events.
    func nextBatch(of name: String, limit: Int) throws -> (batch: EventBatch, damaged: [Int64]) {
        guard try first("SELECT 1 FROM destination WHERE name = ?", [name.canonical], { _ in true }) ?? false else {
            throw EventStoreError.unknown(name, beside: try consumers())
        }
        var damaged: [Int64] = []
        for state in MailState.waiting {
            let found = try events(for: name, in: state, limit: limit) { event, _ in event }
            damaged += found.damaged
            guard found.events.isEmpty, state != MailState.pending else {
                let isOutOfOrder = state == MailState.redelivered
                return (EventBatch(consumer: name, events: found.events, isOutOfOrder: isOutOfOrder), damaged)
            }
        }
        return (EventBatch(consumer: name, events: [], isOutOfOrder: false), damaged)
    }

    /// Returns the dead letters of a consumer, oldest first.
    func refused(by name: String, limit: Int) throws -> [RefusedEvent] {
        try events(for: name, in: MailState.dead, limit: limit, "d.attempts, d.reason, d.since") { event, row in
            RefusedEvent(
                event: event, reason: try row.text(18, atMost: 1 << 16), attempts: try row.count(17),
                time: Timestamp(milliseconds: try row.integer(19)))
        }.events
    }
}

/// Changes of mailboxes.
extension StepWriter {
    /// Puts an event into a mailbox that does not contain it.
    mutating func post(
        _ stored: StoredEvent, to index: Int, _ state: Int = MailState.pending, isNamed: Bool, body: Data? = nil
    ) throws {
        let name = ledger.consumers[index].name
        let event = stored.event
        if event.priority == .latest {
            let old = try ledger.consumers[index].latest.flatMap { try waiting($0, for: name) }
            try remove([old].compactMap { $0 }, from: index, \.superseded)
            ledger.consumers[index].latest = stored.number
        }
        let bytes = (body ?? event.body).count + Event.overhead
        try tables.run(
            "INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, 0, NULL, ?)",
            [
                name, state, stored.number, Int64(event.priority.rawValue), bytes, stored.arrival.milliseconds, isNamed,
                body,
            ])
        ledger.consumers[index].mail[state] += Amount(count: 1, bytes: bytes)
        ledger.consumers[index].appended += 1
        ledger.changedConsumers.insert(name)
    }

    /// Removes rows of a mailbox, and counts them.
    mutating func remove(
        _ mail: [Mail], from index: Int, _ count: WritableKeyPath<ConsumerStatus, Int>, _ reason: String? = nil
    ) throws {
        guard !mail.isEmpty else { return }
        let name = ledger.consumers[index].name
        for row in mail {
            try tables.run(
                "DELETE FROM delivery WHERE destination = ? AND state = ? AND number = ?",
                [name, row.state, row.number])
            ledger.consumers[index].mail[row.state] -= Amount(count: 1, bytes: row.bytes)
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
            SELECT \(Mail.columns) FROM delivery WHERE destination = ? AND state BETWEEN ? AND ?
            ORDER BY priority, number LIMIT ?
            """, [consumer.name, states.lowerBound, states.upperBound, limit]
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
        let stored = StoredEvent(number: number, arrival: Timestamp(milliseconds: now), event: event)
        var body: Data?
        if receipt.new == 0 {
            let known = try tables.first("SELECT body FROM event WHERE number = ?", [number]) {
                try $0.data(0, atMost: Event.maximumBody)
            }
            if known == nil {
                // The history has deleted it.
                let again = StoredEvent(number: number, arrival: stored.arrival, event: own)
                try tables.insert(again)
                ledger.events += Amount(count: 1, bytes: event.size)
                if number <= ledger.swept { ledger.behind += Amount(count: 1, bytes: event.size) }
            }
            if let known, known != event.body { body = event.body }
        }
        for index in ledger.consumers.indices {
            let consumer = ledger.consumers[index]
            guard consumer.isActive, consumers.contains(consumer.name),
                try tables.mail(of: consumer.name, "state IN (0, 1, 2) AND number = ?", [number]).isEmpty
            else { continue }
            try post(stored, to: index, MailState.redelivered, isNamed: true, body: body)
            try enforceBounds(of: index, MailState.waiting)
        }
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
        let index = ledger.consumers.firstIndex { $0.name > name } ?? ledger.consumers.endIndex
        ledger.consumers.insert(consumer, at: index)
        guard number < ledger.sequence else { return }
        var wanted: [StoredEvent] = []
        try tables.events("number > ?", [max(number, 0)]) { event in
            if let event, consumer.wants(event.event) { wanted.append(event) }
            return true
        }
        for event in wanted { try post(event, to: index, isNamed: event.event.audience != nil) }
    }

    /// Drops the waiting events that came by the filter, if the filter no longer selects them.
    private mutating func dropUnselected(of index: Int) throws {
        let consumer = ledger.consumers[index]
        var mail: [Mail] = []
        try tables.each(
            """
            SELECT d.number, d.state, d.bytes, d.attempts, e.kind, e.region FROM delivery AS d
            LEFT JOIN event AS e ON e.number = d.number WHERE d.destination = ? AND d.state < 2 AND NOT d.named
            """, [consumer.name]
        ) { row in
            let isSelected = try? consumer.filter.selects(kind: row.text(4), region: row.optionalText(5))
            if isSelected != true { mail.append(try Mail(row)) }
            return true
        }
        try remove(mail, from: index, \.droppedByFilter, "its filter changed")
    }

    /// Removes a consumer with its mailbox.
    mutating func removeConsumer(_ name: String) throws {
        let name = ledger.consumers.remove(at: try index(ofListed: name)).name
        try tables.run("DELETE FROM destination WHERE name = ?", [name])
        try tables.run("DELETE FROM delivery WHERE destination = ?", [name])
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
    private func mail(_ id: EventID?, of name: String, _ states: String) throws -> [Mail] {
        guard let id else { return try tables.mail(of: name, states) }
        guard let number = try number(of: id) else { return [] }
        return try tables.mail(of: name, "\(states) AND number = ?", [number])
    }

    /// Queues dead letters for another attempt, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - name: the consumer.
    /// - Returns: The number of queued dead letters.
    mutating func retry(_ id: EventID?, of name: String) throws -> Int {
        let index = try index(ofListed: name)
        let name = ledger.consumers[index].name
        let mail = try mail(id, of: name, "state = 2")
        for row in mail {
            try tables.run(
                """
                UPDATE delivery SET state = 0, attempts = 0, named = 1, since = ?
                WHERE destination = ? AND state = 2 AND number = ?
                """, [now, name, row.number])
            ledger.consumers[index].mail[MailState.dead] -= Amount(count: 1, bytes: row.bytes)
            ledger.consumers[index].mail[MailState.redelivered] += Amount(count: 1, bytes: row.bytes)
        }
        // Of the lowest priority only the newest waits.
        if !mail.isEmpty {
            let latest = try tables.mail(of: name, "state < 2 AND priority = 0 ORDER BY number DESC")
            try remove(Array(latest.dropFirst()), from: index, \.superseded)
            ledger.consumers[index].latest = latest.first?.number
        }
        ledger.consumers[index].nextAttempt = nil
        ledger.changedConsumers.insert(name)
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
        let name = ledger.consumers[index].name
        let mail = try mail(id, of: name, deadLettersOnly ? "state = 2" : "state IN (0, 1, 2)")
        try remove(mail, from: index, \.droppedOnRequest)
        ledger.changedConsumers.insert(name)
        return mail.count
    }

    /// Removes events from a mailbox that cannot be read.
    mutating func discard(_ numbers: [Int64], of name: String) throws {
        guard let index = ledger.index(of: name) else { return }
        for number in numbers {
            let mail = try tables.mail(of: name, "state IN (0, 1) AND number = ?", [number])
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
        let left = try batch.events.filter { try waiting($0.number, for: batch.consumer) != nil }
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
    private func waiting(_ number: Int64, for name: String) throws -> Mail? {
        try tables.first(
            "SELECT \(Mail.columns) FROM delivery WHERE destination = ? AND state IN (0, 1) AND number = ?",
            [name, number], Mail.init)
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
                guard let mail = try waiting(event.number, for: batch.consumer) else { continue }
                if let reason = refused[event.number] {
                    try refuse(mail, Self.printable(reason), by: index)
                } else {
                    try remove([mail], from: index, \.handled)
                }
            }
            guard let last = batch.events.last?.number else { return }
            if !batch.isOutOfOrder { ledger.consumers[index].passed = max(ledger.consumers[index].passed, last) }
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
        try tables.run(
            """
            UPDATE delivery SET state = 2, attempts = ?, reason = ?, since = ?
            WHERE destination = ? AND state = ? AND number = ?
            """, [attempts, reason, now, consumer.name, mail.state, mail.number])
        ledger.consumers[index].mail[mail.state] -= Amount(count: 1, bytes: mail.bytes)
        ledger.consumers[index].mail[MailState.dead] += Amount(count: 1, bytes: mail.bytes)
        ledger.consumers[index].refused += 1
    }

    /// Returns a reason in the form in which the file stores it.
    private static func printable(_ reason: String) -> String {
        String(reason.prefix(1_000).map { $0 == "\0" ? " " : $0 })
    }
}
