import BeaconModel
import GRDB

/// Changes of consumers and of their events' status.
extension StepWriter {
    // MARK: - Consumers

    /// Adds a consumer, or continues one with another filter.
    mutating func setConsumer(
        _ name: String, _ filter: EventFilter, _ limits: ConsumerLimits, after number: Int64
    ) throws {
        ledger.changedConsumers.insert(name)
        guard let index = ledger.index(of: name) else {
            var consumer = ConsumerStatus(name: name)
            consumer.set(filter)
            consumer.position = min(max(number, 0), ledger.sequence)
            consumer.limits = limits
            try consumer.recount(tables, through: ledger.sequence)
            consumer.appended = consumer.waiting
            ledger.consumers.append(consumer)
            return
        }
        var consumer = ledger.consumers[index]
        consumer.limits = limits
        consumer.resume(at: ledger.sequence)
        if consumer.filter != filter {
            let before = consumer
            consumer.set(filter)
            let ceased = try consumer.amounts(tables, through: ledger.sequence) {
                before.selects(kind: $0, region: $1, audience: $2)
                    && !consumer.selects(kind: $0, region: $1, audience: $2)
            }.reduce(0) { $0 + $1.count }
            consumer.droppedByFilter += ceased
            note(ceased, of: consumer, "its filter changed")
            try consumer.recount(tables, through: ledger.sequence)
        }
        ledger.consumers[index] = consumer
    }

    /// Pauses a consumer, or does nothing if the name is unknown.
    mutating func pauseConsumer(_ name: String, _ limits: ConsumerLimits) throws {
        guard let index = ledger.index(of: name) else { return }
        ledger.consumers[index].limits = limits
        try ledger.consumers[index].pause(at: ledger.sequence, tables)
    }

    /// Removes a consumer with its dead letters.
    mutating func removeConsumer(_ name: String) throws {
        ledger.consumers.remove(at: try index(ofListed: name))
        try tables.run("DELETE FROM consumer WHERE name = ?", [name])
        try tables.run("DELETE FROM refused WHERE consumer = ?", [name])
    }

    /// Returns the index of a consumer that is not hidden.
    private func index(ofListed name: String) throws -> Int {
        guard let index = ledger.index(of: name), !ledger.consumers[index].isHidden else {
            throw EventStoreError.unknown(name, beside: ledger.consumers)
        }
        return index
    }

    /// Records that a consumer skipped events.
    mutating func note(_ count: Int, of consumer: ConsumerStatus, _ reason: String) {
        if count > 0 { skips.append((consumer.name, count, reason)) }
    }

    // MARK: - Requests

    /// Queues dead letters for another attempt, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - name: the consumer.
    /// - Returns: The number of queued dead letters.
    mutating func retry(_ id: EventID?, of name: String) throws -> Int {
        let index = try index(ofListed: name)
        try tables.run(
            """
            UPDATE refused SET state = 1, attempts = 0, refusedAt = ?3
            WHERE consumer = ?1 AND state = 0 AND (?2 IS NULL OR id = ?2)
            """, [name, id?.bytes, now])
        let count = tables.database.changesCount
        try ledger.consumers[index].recountRefused(tables)
        ledger.consumers[index].nextAttempt = nil
        ledger.changedConsumers.insert(name)
        return count
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
        var consumer = ledger.consumers[index]
        try tables.run(
            "DELETE FROM refused WHERE consumer = ?1 AND state < ?3 AND (?2 IS NULL OR id = ?2)",
            [name, id?.bytes, deadLettersOnly ? 1 : 2])
        var count = tables.database.changesCount
        try consumer.recountRefused(tables)
        if !deadLettersOnly {
            if let id {
                try tables.events(
                    "number > ? AND number = (SELECT number FROM known WHERE id = ?)", [consumer.position, id.bytes]
                ) { event in
                    guard let event, consumer.wants(event) else { return true }
                    count += 1
                    consumer.count(event.event, -1)
                    consumer.removed.insert(event.number)
                    return true
                }
            } else {
                try consumer.recount(tables, through: ledger.sequence)
                count += consumer.pending.reduce(0) { $0 + $1.count }
                consumer.move(to: ledger.sequence)
                consumer.pending = ConsumerStatus.nothing
            }
        }
        consumer.droppedOnRequest += count
        ledger.consumers[index] = consumer
        ledger.changedConsumers.insert(name)
        return count
    }

    // MARK: - Progress

    /// Returns whether progress is new, or was stored before.
    func verdict(on progress: Step.Progress) throws -> Result<Bool, EventStoreError> {
        guard let index = ledger.index(of: progress.consumer) else {
            return .failure(.unknown(progress.consumer, beside: ledger.consumers))
        }
        guard case .handled(let batch, _) = progress else { return .success(true) }
        if batch.isOutOfOrder {
            var due = 0
            for event in batch.events {
                due +=
                    try tables.first(
                        "SELECT count(*) FROM refused WHERE consumer = ? AND number = ? AND state = 1",
                        [batch.consumer, event.number]
                    ) { try $0.count(0) } ?? 0
            }
            // The other events were dropped after the batch was read.
            return .success(due > 0)
        } else {
            let position = ledger.consumers[index].position
            if position == batch.from { return .success(true) }
            if position >= batch.through, batch.through > batch.from { return .success(false) }
        }
        return .failure(
            EventStoreError(
                .conflict, "the consumer \"\(batch.consumer)\" has moved since the batch. Read its next events again"
            ))
    }

    /// Stores progress that is new according to ``verdict(on:)``.
    mutating func store(_ progress: Step.Progress) throws {
        guard let index = ledger.index(of: progress.consumer) else { return }
        var consumer = ledger.consumers[index]
        switch progress {
        case .failed(_, let reason, let pause):
            consumer.failures += 1
            consumer.retried += 1
            consumer.failingSince = consumer.failingSince ?? Timestamp(milliseconds: now)
            consumer.nextAttempt = Timestamp(milliseconds: now + pause)
            consumer.lastError = Self.printable(reason)
        case .handled(let batch, let refused):
            for event in batch.events {
                let reason = refused[event.number].map(Self.printable)
                if batch.isOutOfOrder {
                    try retried(event, reason, by: &consumer)
                    continue
                }
                if consumer.wants(event) { consumer.count(event.event, -1) }
                if let reason {
                    consumer.refused += 1
                    consumer.deadLetters += 1
                    let attempts = consumer.failures + 1
                    try tables.refuse(event, by: consumer.name, reason: reason, attempts: attempts, at: now)
                } else {
                    consumer.handled += 1
                }
            }
            if !batch.isOutOfOrder {
                consumer.move(to: batch.through)
                // A batch of another filter may have passed events that the current filter counts.
                if batch.filter != consumer.filter { try consumer.recount(tables, through: ledger.sequence) }
            }
            if !batch.events.isEmpty {
                (consumer.failures, consumer.failingSince) = (0, nil)
                (consumer.nextAttempt, consumer.lastError) = (nil, nil)
            }
            if !refused.isEmpty { try enforceDeadLetterBound(&consumer) }
        }
        ledger.consumers[index] = consumer
    }

    /// Stores the outcome of an event that waited out of order, unless the event was dropped.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - reason: the reason for another refusal; nil if it was handled.
    ///   - consumer: the consumer.
    private func retried(_ event: StoredEvent, _ reason: String?, by consumer: inout ConsumerStatus) throws {
        if let reason {
            try tables.run(
                """
                UPDATE refused SET state = 0, attempts = attempts + 1, reason = ?, refusedAt = ?
                WHERE consumer = ? AND number = ? AND state = 1
                """, [reason, now, consumer.name, event.number])
        } else {
            try tables.run(
                "DELETE FROM refused WHERE consumer = ? AND number = ? AND state = 1", [consumer.name, event.number])
        }
        guard tables.database.changesCount > 0 else { return }
        consumer.due -= Amount(count: 1, bytes: event.event.size)
        if reason == nil {
            consumer.handled += 1
        } else {
            consumer.refused += 1
            consumer.deadLetters += 1
        }
    }

    private mutating func enforceDeadLetterBound(_ consumer: inout ConsumerStatus) throws {
        let excess = consumer.deadLetters - consumer.limits.refused
        guard excess > 0 else { return }
        try tables.run(
            """
            DELETE FROM refused WHERE consumer = ?1 AND number IN (
                SELECT number FROM refused WHERE consumer = ?1 AND state = 0 ORDER BY priority, number LIMIT ?2)
            """, [consumer.name, excess])
        consumer.deadLetters -= excess
        consumer.droppedBySize += excess
        note(excess, of: consumer, "more dead letters are kept than its bounds allow")
    }

    /// Returns a reason in the form in which the file stores it.
    private static func printable(_ reason: String) -> String {
        String(reason.prefix(1_000).map { $0 == "\0" ? " " : $0 })
    }
}

extension StoreTables {
    /// Stores an event as a dead letter (0), or as one that waits for another attempt (1).
    func refuse(
        _ event: StoredEvent, by consumer: String, reason: String, attempts: Int, at now: Int64, state: Int = 0
    ) throws {
        let values: StatementArguments = [consumer, state, attempts, reason, now] + event.row
        try run(
            """
            INSERT OR REPLACE INTO refused (consumer, state, attempts, reason, refusedAt, \(StoreRow.columns))
            VALUES (\(Self.marks(20)))
            """, values)
    }
}
