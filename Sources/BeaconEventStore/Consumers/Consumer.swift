public import BeaconModel
import BeaconSupport

/// The bounds of what waits for a consumer. A consumer that falls behind them skips events and counts them: the lowest
/// priority first, and of that the oldest.
public struct ConsumerLimits: Hashable, Sendable {
    /// The longest time that an event waits, by its arrival.
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
        self.age = age
        self.events = events
        self.bytes = bytes
        self.refused = refused
    }
}

/// The status of a consumer. Its counts continue over restarts.
public struct ConsumerStatus: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The number of the newest event that it has passed.
    public var position: Int64 = 0
    /// The number of events that wait.
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
    /// The number of events that it skipped because they were too old.
    public var skippedByAge = 0
    /// The number of events that it skipped because too many waited, and of dead letters that went for that.
    public var skippedBySize = 0
    /// The number of events that someone dropped.
    public var dropped = 0
    /// The number of attempts in a row that have failed; 0 while it accepts events.
    public var failures = 0
    /// When these attempts began, by the wall clock; nil while it accepts events.
    public var failingSince: Timestamp?
    /// The moment of the next attempt, by the wall clock; nil for at once.
    public var nextAttempt: Timestamp?
    /// The reason why the newest attempt failed; nil where it did not.
    public var lastError: String?

    /// The status of a new consumer.
    init(name: String) { self.name = name }
}

/// Events for a consumer, in order.
public struct EventBatch: Hashable, Sendable {
    /// The consumer's name.
    public let consumer: String
    /// The events that its filter lets through, oldest first.
    public let events: [StoredEvent]
    /// True for dead letters that are tried again on request.
    public let isRetry: Bool
    /// The consumer's position before the batch, and after it.
    let from: Int64
    let through: Int64
    /// The registration of the consumer whose filter chose the events.
    var generation = 0

    /// Returns a batch of the first events, for a consumer that handled only these.
    public func prefix(_ count: Int) -> EventBatch {
        guard count < events.count else { return self }
        let events = Array(events.prefix(max(count, 0)))
        return EventBatch(
            consumer: consumer, events: events, isRetry: isRetry, from: from,
            through: isRetry ? through : events.last?.number ?? from, generation: generation)
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
    /// True where it waits for another attempt.
    public var isWaiting: Bool
}

/// A named reader of the store's events, with a position that survives restarts.
///
/// ```swift
/// let mail = try await store.addConsumer("mail") { $0.kind == "enter" }
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

    /// Returns true for events that are for it.
    let filter: @Sendable (Event) -> Bool

    private let store: EventStore

    /// The number of the registration. A later registration may have another filter.
    private let generation: Int

    /// Signals that events wait that did not before.
    let arrivals: AsyncSignal

    /// No event from the position up to this number is for it; saves reading them again at each attempt.
    private let examined = Locked<Int64>(0)

    init(
        name: String, store: EventStore, generation: Int, arrivals: AsyncSignal,
        filter: @escaping @Sendable (Event) -> Bool
    ) {
        self.name = name
        self.generation = generation
        self.store = store
        self.arrivals = arrivals
        self.filter = filter
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
        let (name, filter, examined) = (name, filter, examined.withLock { $0 })
        let limit = max(limit, 1)
        let (page, damaged) = try await store.read { tables in
            try tables.nextBatch(of: name, limit: limit, after: examined, filter: filter)
        }
        if damaged > 0 { store.reportDamagedEvents(damaged) }
        guard var page else { throw .unknown(name) }
        page.generation = generation
        if !page.isRetry {
            self.examined.withLock { $0 = max($0, (page.events.first?.number ?? page.through + 1) - 1) }
        }
        return page.events.isEmpty ? nil : page
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

    /// Keeps that an attempt failed, for the status.
    ///
    /// - Parameters:
    ///   - reason: why it failed.
    ///   - next: the moment of the next attempt, by the wall clock.
    /// - Throws: ``EventStoreError``, as ``EventStore/append(_:)``.
    public func fail(_ reason: String, next: Timestamp? = nil) async throws(EventStoreError) {
        var step = Step()
        step.progress = [.failed(consumer: name, reason: reason, next: next?.milliseconds)]
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
