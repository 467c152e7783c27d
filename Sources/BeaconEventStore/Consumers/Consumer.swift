public import BeaconModel
package import BeaconSupport

/// The next events of a consumer, in order.
public struct EventBatch: Hashable, Sendable {
    /// The consumer's name.
    public let consumer: String
    /// The events for the consumer, oldest first.
    public let events: [StoredEvent]
    /// Whether the events are out of order: retried dead letters and addressed events.
    public let isOutOfOrder: Bool
    /// A number up to which no event waited in order.
    package let from: Int64

    /// Returns a batch of the first events, for a consumer that handled only these.
    public func prefix(_ count: Int) -> EventBatch {
        EventBatch(
            consumer: consumer, events: Array(events.prefix(max(count, 0))), isOutOfOrder: isOutOfOrder, from: from)
    }
}

/// A dead letter: an event that a consumer refused permanently, with the reason.
public struct RefusedEvent: Hashable, Sendable {
    /// The event.
    public var event: StoredEvent
    /// The reason.
    public var reason: String
    /// The number of attempts.
    public var attempts: Int
    /// The time of the last refusal, by the wall clock.
    public var time: Timestamp
}

/// A named reader of the store's events, with a mailbox that survives restarts.
///
/// ```swift
/// let mail = try store.addConsumer("mail", filter: EventFilter(kinds: ["enter"]))
/// while let batch = try await mail.next(limit: 10) {
///     try await send(batch.events)
///     try await mail.commit(batch)
/// }
/// ```
///
/// If the process ends after an event was sent and before it was committed, the event is delivered again: at least
/// once, in order. A consumer whose effects are in the store commits in the same step, with
/// ``Step/commit(_:refused:)``: exactly once.
///
/// Only one task at a time may read for a consumer.
public final class EventConsumer: Sendable {
    /// The name.
    public let name: String

    private let store: EventStore

    /// Signals that there may be new events, or that the consumer's status changed.
    package let arrivals: AsyncSignal

    init(name: String, store: EventStore, arrivals: AsyncSignal) {
        (self.name, self.store, self.arrivals) = (name, store, arrivals)
    }

    /// Returns the next events, and waits until there are some.
    ///
    /// - Parameter limit: the maximum number of events.
    /// - Returns: The events, or nil if the task is canceled or the store is closed.
    /// - Throws: ``EventStoreError`` if the store cannot be read, or if the consumer no longer exists.
    public func next(limit: Int = 100) async throws(EventStoreError) -> EventBatch? {
        while !Task.isCancelled {
            // Read the count before checking the store, so that a later signal ends the wait.
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

    /// Returns the next events; nil if no event waits now. Unreadable events are skipped and logged.
    ///
    /// - Parameter limit: the maximum number of events.
    /// - Throws: ``EventStoreError`` if the store cannot be read, or if the consumer no longer exists.
    public func available(limit: Int = 100) async throws(EventStoreError) -> EventBatch? {
        try await read(limit: max(limit, 1)).batch
    }

    /// Returns the status, and the next events like ``available(limit:)``. A limit of 0 is for the status only.
    package func read(limit: Int) async throws(EventStoreError) -> (status: ConsumerStatus, batch: EventBatch?) {
        // No event is handled with a time that the clock has already corrected.
        if store.isClockSet(to: store.clock.lead) { _ = try? await store.append(Step()) }
        let (status, batch, damaged) = try await store.read { [name, shared = store.shared] tables in
            // The ledger is not newer than the snapshot, which begins with the first query.
            let status = try shared.withLock { $0.ledger }.status(of: name, tables)
            let (batch, damaged) = try tables.nextBatch(of: status, limit: limit)
            return (status, batch, damaged)
        }
        if !damaged.isEmpty {
            store.reportDamagedEvents(damaged.count)
            try? await store.discard(damaged, of: name)
        }
        return (status, batch.events.isEmpty ? nil : batch)
    }

    /// Moves past a batch or a prefix of it, and ends a series of failures.
    ///
    /// - Parameters:
    ///   - batch: the batch, or a prefix of it.
    ///   - refused: the events that can never be handled, by number, with the reasons. They become dead letters.
    /// - Throws: ``EventStoreError``: `conflict` if the consumer has moved since; otherwise as
    ///   ``EventStore/append(_:)``.
    public func commit(_ batch: EventBatch, refused: [Int64: String] = [:]) async throws(EventStoreError) {
        var step = Step()
        step.commit(batch, refused: refused)
        try await store.append(step)
    }

    /// Returns the status.
    ///
    /// - Throws: ``EventStoreError`` if the store cannot be read.
    public func status() async throws(EventStoreError) -> ConsumerStatus { try await read(limit: 0).status }
}
