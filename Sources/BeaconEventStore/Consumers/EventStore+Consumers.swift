import BeaconSupport
import Dispatch
import Foundation
import GRDB

extension EventStore {
    /// Consumers to add or to continue, and others to pause.
    struct Setup: Sendable {
        var consumers: [(name: String, filter: EventFilter)]
        var paused: [String]
        var limits: ConsumerLimits
        var after: Int64?
        let id = UUID()
    }

    /// Adds a consumer, or continues one of this name with new bounds and a new filter.
    ///
    /// The file keeps the consumer until it is removed. While the process that handles its events is not running, the
    /// events wait, within its bounds. Waiting events that a new filter does not select are dropped and counted.
    ///
    /// - Parameters:
    ///   - name: the name, which does not begin with a full stop.
    ///   - filter: the selection of its events.
    ///   - limits: the bounds of its queue.
    ///   - number: the number of the event after which a new consumer starts; nil for the newest event.
    /// - Returns: The consumer. Do not use an earlier one of this name any longer.
    /// - Throws: ``EventStoreError`` if the name is not valid, or if the file cannot be written.
    @discardableResult
    public nonisolated func addConsumer(
        _ name: String, filter: EventFilter = EventFilter(), limits: ConsumerLimits = ConsumerLimits(),
        after number: Int64? = nil
    ) throws(EventStoreError) -> EventConsumer {
        try addConsumers([(name, filter)], limits: limits, after: number)[0]
    }

    /// Adds or continues consumers and pauses others, in one transaction. The call blocks its thread.
    ///
    /// A paused consumer keeps its waiting events, within its bounds, and receives no later ones until it is added
    /// again.
    ///
    /// - Parameters:
    ///   - consumers: the names, each with the selection of its events.
    ///   - paused: the names of consumers to pause. Unknown names are ignored.
    ///   - limits: the bounds of each queue.
    ///   - number: the number of the event after which new consumers start; nil for the newest event.
    /// - Returns: The consumers, in order.
    /// - Throws: ``EventStoreError`` if a name is not valid, or if the file cannot be written. Nothing is changed then.
    ///   Before the first write after the opening, a failure of the disk is no error: the consumers are added when the
    ///   disk works again, and ``health`` reports the failure.
    @discardableResult
    public nonisolated func addConsumers(
        _ consumers: [(name: String, filter: EventFilter)], pausing paused: [String] = [],
        limits: ConsumerLimits = ConsumerLimits(), after number: Int64? = nil
    ) throws(EventStoreError) -> [EventConsumer] {
        for (name, _) in consumers { try check(name) }
        return try add(consumers, pausing: paused, limits: limits, after: number)
    }

    /// Adds or continues a consumer that lists of consumers omit.
    ///
    /// - Parameters:
    ///   - name: the name, without the full stop before it.
    ///   - filter: the selection of its events.
    ///   - limits: the bounds of its queue.
    /// - Throws: ``EventStoreError`` if the file cannot be written.
    package nonisolated func addHiddenConsumer(
        _ name: String, filter: EventFilter, limits: ConsumerLimits
    ) throws(EventStoreError) -> EventConsumer {
        try add([(".\(name)", filter)], pausing: [], limits: limits, after: nil)[0]
    }

    private nonisolated func add(
        _ consumers: [(name: String, filter: EventFilter)], pausing paused: [String], limits: ConsumerLimits,
        after number: Int64?
    ) throws(EventStoreError) -> [EventConsumer] {
        let consumers = consumers.map { (name: $0.name.canonical, filter: $0.filter) }
        let setup = Setup(consumers: consumers, paused: paused, limits: limits, after: number)
        try onQueue { store throws(EventStoreError) in try store.setUp(setup) }
        return shared.withLock { shared in
            consumers.map { name, _ in
                let arrivals = shared.arrivals[name] ?? AsyncSignal()
                shared.arrivals[name] = arrivals
                return EventConsumer(name: name, store: self, arrivals: arrivals)
            }
        }
    }

    /// Removes a consumer with its waiting events and its dead letters.
    ///
    /// - Throws: ``EventStoreError`` if it cannot be removed; `unknownConsumer` if it does not exist.
    public func removeConsumer(_ name: String) throws(EventStoreError) {
        try change { try $0.removeConsumer(name) }
        // Wake a task that waits for its events, so that it can end.
        shared.withLock { $0.arrivals.removeValue(forKey: name) }?.signal()
    }

    /// Returns the status of all consumers, by name, including those that this process did not add.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func consumers() async throws(EventStoreError) -> [ConsumerStatus] {
        try await read { tables in try self.shared.withLock { $0.ledger }.statuses(tables) }.filter { !$0.isHidden }
    }

    /// Removes events from a mailbox that cannot be read.
    func discard(_ numbers: [Int64], of name: String) throws(EventStoreError) {
        try change { try $0.discard(numbers, of: name) }
    }

    /// The status of all consumers after the last write of this process.
    package nonisolated var knownConsumers: [ConsumerStatus] {
        shared.withLock { $0.ledger }.consumers.filter { !$0.isHidden }
    }

    /// Adds or continues consumers, and pauses others. A setup that changes nothing is not written, so that a
    /// program starts on a full disk.
    private func setUp(_ setup: Setup) throws(EventStoreError) {
        if ledger.adopt(setup) {
            shared.withLock { [ledger] in $0.ledger = ledger }
            return
        }
        setups.append(setup)
        do {
            try change { _ in }
        } catch {
            guard !hasWritten, error.isOfDisk else {
                // It is gone if the failure came after the commit.
                setups.removeAll { $0.id == setup.id }
                throw error
            }
            fail(error)
        }
    }

    /// Runs a closure on the store's queue, for callers that cannot suspend.
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
            "\"\(name.prefix(40))\" is not a valid consumer name: it is empty, too long, or begins with a full stop")
    }
}
