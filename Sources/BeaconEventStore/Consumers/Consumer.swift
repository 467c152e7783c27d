public import BeaconModel
package import BeaconSupport

/// The bounds of what waits for a consumer. A consumer that falls behind them skips events and counts them: the lowest
/// priority first, and of that the oldest.
public struct ConsumerLimits: Hashable, Sendable {
    /// The longest time that an event waits, by its arrival, and that a dead letter is kept.
    public var age: Duration
    /// The most events that wait.
    public var events: Int
    /// The most bytes that wait.
    public var bytes: Int
    /// The most dead letters that are kept.
    public var refused: Int

    /// Creates bounds.
    ///
    /// - Parameters:
    ///   - age: the longest time that an event waits.
    ///   - events: the most events that wait.
    ///   - bytes: the most bytes that wait.
    ///   - refused: the most dead letters that are kept.
    public init(
        age: Duration = .seconds(7 * 86_400), events: Int = 100_000, bytes: Int = 64 << 20, refused: Int = 1_000
    ) {
        (self.age, self.events, self.bytes, self.refused) = (age, events, bytes, refused)
    }
}

/// The status of a consumer. Its counts continue over restarts.
public struct ConsumerStatus: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The number of the newest event that it has passed.
    public var position: Int64 = 0
    /// The number of events that wait, dead letters that are tried again included.
    public var waiting = 0
    /// The number of bytes that they have.
    public var waitingBytes = 0
    /// The number of dead letters.
    public var deadLetters = 0
    /// The number of events that were ever for it.
    public var appended = 0
    /// The number of events that it ever handled.
    public var handled = 0
    /// The number of attempts that failed and had to be repeated.
    public var retried = 0
    /// The number of events that it ever refused for good.
    public var refused = 0
    /// The number of events and dead letters that were dropped because they were too old.
    public var droppedByAge = 0
    /// The number of events and dead letters that were dropped because there were too many.
    public var droppedBySize = 0
    /// The number of events that waited and that another filter no longer selects.
    public var droppedByFilter = 0
    /// The number of events and dead letters that someone dropped.
    public var droppedByHand = 0
    /// The number of events that a newer one of the priority ``Event/Priority-swift.struct/latest`` replaced.
    public var superseded = 0
    /// The number of attempts in a row that have failed; 0 while it accepts events.
    public var failures = 0
    /// When these attempts began, by the wall clock; nil while it accepts events.
    public var failingSince: Timestamp?
    /// The moment of the next attempt, by the wall clock; nil for at once.
    public var nextAttempt: Timestamp?
    /// The reason why the newest attempt failed; nil where it did not.
    public var lastError: String?

    /// Creates the status of a new consumer.
    public init(name: String) { self.name = name }

    /// The number of events and dead letters that were dropped, for whatever reason.
    public var dropped: Int { droppedByAge + droppedBySize + droppedByFilter + droppedByHand }
}

/// Events for a consumer, in order.
public struct EventBatch: Hashable, Sendable {
    /// The consumer's name.
    public let consumer: String
    /// The events that are for it, oldest first.
    public let events: [StoredEvent]
    /// True for events out of order: dead letters that are tried again on request, and events that were addressed.
    public let isRetry: Bool
    /// The consumer's position before the batch, and after it.
    package let from: Int64
    let through: Int64
    /// The filter that chose the events.
    let filter: EventFilter

    /// Returns a batch of the first events, for a consumer that handled only these.
    public func prefix(_ count: Int) -> EventBatch {
        guard count < events.count else { return self }
        let events = Array(events.prefix(max(count, 0)))
        return EventBatch(
            consumer: consumer, events: events, isRetry: isRetry, from: from,
            through: isRetry ? through : events.last?.number ?? from, filter: filter)
    }
}

/// A dead letter: an event that a consumer refused for good, with the reason.
public struct RefusedEvent: Hashable, Sendable {
    /// The event.
    public var event: StoredEvent
    /// The reason.
    public var reason: String
    /// The number of attempts.
    public var attempts: Int
    /// When it was refused last, by the wall clock.
    public var time: Timestamp
}

/// A named reader of the store's events, with a position that survives restarts.
///
/// ```swift
/// let mail = try store.addConsumer("mail", filter: EventFilter(kinds: ["enter"]))
/// while let batch = try await mail.next(limit: 10) {
///     try await send(batch.events)
///     try await mail.commit(batch)
/// }
/// ```
///
/// An event that was sent and not committed when the process ended comes again: at least once, in order. A consumer
/// whose effects are in the store commits in the step that has them, with ``Step/commit(_:refused:)``: exactly once.
///
/// One task at a time reads for a consumer.
public final class EventConsumer: Sendable {
    /// The name.
    public let name: String

    private let store: EventStore

    /// The signal that something may wait, or that its status changed.
    package let arrivals: AsyncSignal

    /// A filter, and a number up to which nothing after the position is for it: saves reading that at each attempt.
    private let examined = Locked<(filter: EventFilter, number: Int64)>((EventFilter(), 0))

    init(name: String, store: EventStore, arrivals: AsyncSignal) {
        (self.name, self.store, self.arrivals) = (name, store, arrivals)
    }

    /// Returns the next events, and waits until there are some.
    ///
    /// - Parameter limit: the most events.
    /// - Returns: nil where the task is cancelled or the store closed.
    /// - Throws: ``EventStoreError`` where the store cannot be read, or has no such consumer any longer.
    public func next(limit: Int = 100) async throws(EventStoreError) -> EventBatch? {
        while !Task.isCancelled {
            // Before the question, so that what comes after it ends the wait.
            let seen = arrivals.count
            do throws(EventStoreError) {
                if let batch = try await available(limit: limit) { return batch }
            } catch {
                if error.code == .closed || error.code == .cancelled { return nil }
                throw error
            }
            await arrivals.wait(after: seen)
        }
        return nil
    }

    /// Returns the next events; nil if no event waits now. Events that cannot be read are passed over and logged.
    ///
    /// - Parameter limit: the most events.
    /// - Throws: ``EventStoreError`` where the store cannot be read, or has no such consumer any longer.
    public func available(limit: Int = 100) async throws(EventStoreError) -> EventBatch? {
        let (name, known) = (name, examined.withLock { $0 })
        let (batch, damaged) = try await store.read { tables in
            guard let record = try tables.consumers(name).first else { throw EventStoreError.unknown(name) }
            let examined = known.filter == record.filter ? known.number : 0
            return try tables.nextBatch(of: record, limit: max(limit, 1), after: examined)
        }
        if damaged > 0 { store.reportDamagedEvents(damaged) }
        if !batch.isRetry {
            examined.withLock { $0 = (batch.filter, (batch.events.first?.number ?? batch.through + 1) - 1) }
        }
        return batch.events.isEmpty ? nil : batch
    }

    /// Moves past a batch, or the first of its events, and ends a series of failures.
    ///
    /// - Parameters:
    ///   - batch: the batch, or a prefix of it.
    ///   - refused: the events that can never be handled, by number, with the reasons. They become dead letters.
    /// - Throws: ``EventStoreError``: `conflict` where the consumer is elsewhere by now; those of
    ///   ``EventStore/append(_:)``.
    public func commit(_ batch: EventBatch, refused: [Int64: String] = [:]) async throws(EventStoreError) {
        var step = Step()
        step.commit(batch, refused: refused)
        try await store.append(step)
    }

    /// Returns the status.
    ///
    /// - Throws: ``EventStoreError`` where the store cannot be read.
    public func status() async throws(EventStoreError) -> ConsumerStatus {
        let name = name
        guard let status = try await store.read({ try $0.statuses(of: name).first }) else { throw .unknown(name) }
        return status
    }
}
