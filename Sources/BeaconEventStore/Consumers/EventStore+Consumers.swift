public import BeaconModel
import BeaconSupport
import Dispatch
import GRDB

extension EventStore {
    /// Adds a consumer, or continues one of this name with other bounds and another filter.
    ///
    /// The file keeps the consumer until it is removed: while the process that handles its events does not run, they
    /// wait, up to its bounds. Where other events are selected from now on, those that waited and are not among them
    /// are dropped and counted.
    ///
    /// - Parameters:
    ///   - name: the name, which does not begin with a full stop.
    ///   - filter: the events that are for it.
    ///   - limits: the bounds of what waits for it.
    ///   - number: the number of the last event that a new consumer does not get; nil for the newest.
    /// - Returns: the consumer. One that was returned earlier must not be used any longer.
    /// - Throws: ``EventStoreError`` where the name is not valid, or the file cannot be written.
    @discardableResult
    public nonisolated func addConsumer(
        _ name: String, filter: EventFilter = EventFilter(), limits: ConsumerLimits = ConsumerLimits(),
        after number: Int64? = nil
    ) throws(EventStoreError) -> EventConsumer {
        try addConsumers([(name, filter)], limits: limits, after: number)[0]
    }

    /// Adds consumers, or continues them, and pauses others, in one transaction. The call blocks its thread.
    ///
    /// What waits for a paused consumer stays, within the bounds; later events are not for it, until it is added again.
    ///
    /// - Parameters:
    ///   - consumers: the names, and the events that are for each.
    ///   - paused: the names of those that are paused. Those that the file does not have are passed over.
    ///   - limits: the bounds of what waits for each.
    ///   - number: the number of the last event that new consumers do not get; nil for the newest.
    /// - Returns: the consumers, in order.
    /// - Throws: ``EventStoreError`` where a name is invalid, or the file cannot be written; nothing is changed then.
    @discardableResult
    public nonisolated func addConsumers(
        _ consumers: [(name: String, filter: EventFilter)], pausing paused: [String] = [],
        limits: ConsumerLimits = ConsumerLimits(), after number: Int64? = nil
    ) throws(EventStoreError) -> [EventConsumer] {
        for (name, _) in consumers { try check(name) }
        return try add(consumers, pausing: paused, limits: limits, after: number)
    }

    /// Adds a consumer that is in no list of consumers, or continues it.
    ///
    /// - Parameters:
    ///   - name: the name, without the full stop before it.
    ///   - filter: the events that are for it.
    ///   - limits: the bounds of what waits for it.
    /// - Throws: ``EventStoreError`` where the file cannot be written.
    package nonisolated func addHiddenConsumer(
        _ name: String, filter: EventFilter, limits: ConsumerLimits
    ) throws(EventStoreError) -> EventConsumer {
        try add([(".\(name)", filter)], pausing: [], limits: limits, after: nil)[0]
    }

    private nonisolated func add(
        _ consumers: [(name: String, filter: EventFilter)], pausing paused: [String], limits: ConsumerLimits,
        after number: Int64?
    ) throws(EventStoreError) -> [EventConsumer] {
        try onQueue { store throws(EventStoreError) in
            try store.change { writer in
                // Where the file was damaged, a consumer whose row is lost may not have had any of its events.
                let start = number ?? (store.recovery == nil ? writer.ledger.sequence : 0)
                for (name, filter) in consumers { try writer.setConsumer(name, filter, limits, after: start) }
                for name in paused { writer.pauseConsumer(name, limits) }
            }
        }
        return shared.withLock { shared in
            consumers.map { name, _ in
                let arrivals = shared.arrivals[name] ?? AsyncSignal()
                shared.arrivals[name] = arrivals
                return EventConsumer(name: name, store: self, arrivals: arrivals)
            }
        }
    }

    /// Removes a consumer with its position and its dead letters, so that no event waits for it any longer.
    ///
    /// - Throws: ``EventStoreError`` where it cannot be removed; `unknownConsumer` where it does not exist.
    public func removeConsumer(_ name: String) throws(EventStoreError) {
        try change { try $0.removeConsumer(name) }
        // A task that waits for its events learns that there will be none.
        shared.withLock { $0.arrivals.removeValue(forKey: name) }?.signal()
    }

    /// Returns the status of all consumers, by name, also of those that this process did not add.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func consumers() async throws(EventStoreError) -> [ConsumerStatus] {
        try await read { try $0.consumers().filter { !$0.isHidden } }
    }

    /// The status of all consumers, as the newest write of this process left it.
    package nonisolated var knownConsumers: [ConsumerStatus] {
        shared.withLock { $0.ledger }.consumers.filter { !$0.isHidden }
    }

    /// Returns the dead letters of a consumer, oldest first.
    ///
    /// - Parameters:
    ///   - consumer: the consumer's name.
    ///   - limit: the most to return.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func refused(
        by consumer: String, limit: Int = 100
    ) async throws(EventStoreError) -> [RefusedEvent] {
        try await read { try $0.refused(by: consumer, limit: limit) }
    }

    /// Has dead letters tried again, before all other events, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - consumer: the consumer's name.
    /// - Returns: the number of dead letters that are tried again.
    /// - Throws: ``EventStoreError`` where there is no such consumer, or the file cannot be written.
    @discardableResult
    public func retry(_ id: EventID? = nil, for consumer: String) throws(EventStoreError) -> Int {
        try change { try $0.retry(id, of: consumer) }
    }

    /// Drops dead letters and, where asked, events that wait.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all.
    ///   - consumer: the consumer's name.
    ///   - deadLettersOnly: false to drop events that wait as well.
    /// - Returns: the number of events that were dropped.
    /// - Throws: ``EventStoreError`` where there is no such consumer, or the file cannot be written.
    @discardableResult
    public func drop(
        _ id: EventID? = nil, for consumer: String, deadLettersOnly: Bool = true
    ) throws(EventStoreError) -> Int {
        try change { try $0.drop(id, of: consumer, deadLettersOnly: deadLettersOnly) }
    }

    /// Does something on the store's queue, for callers that cannot suspend.
    nonisolated func onQueue<Value: Sendable>(
        _ body: @Sendable (isolated EventStore) throws(EventStoreError) -> Value
    ) throws(EventStoreError) -> Value {
        let result = executor.queue.sync {
            assumeIsolated { store in
                Result { () throws(EventStoreError) in try body(store) }
            }
        }
        return try result.get()
    }

    private nonisolated func check(_ name: String) throws(EventStoreError) {
        if !name.isEmpty, !ConsumerStatus.isReserved(name), !name.contains("\n"), Event.fault(ofText: name) == nil {
            return
        }
        throw EventStoreError(
            .invalid,
            "\"\(name.prefix(40))\" is no name of a consumer: it is empty, too long, or begins with a full stop")
    }
}
