public import BeaconModel
import BeaconSupport
import Foundation
import GRDB

/// Reads of stored events and state. They do not wait for writes.
extension EventStore {
    /// Returns a page of the events that a query selects, newest first.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func events(_ query: EventQuery = EventQuery()) async throws(EventStoreError) -> EventPage {
        try await read(long: true) { try $0.page(query) }
    }

    /// Returns the oldest events after a number, in order, for any consumers.
    ///
    /// - Parameters:
    ///   - number: the number of the last known event; 0 for none.
    ///   - limit: the maximum number to return.
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func events(
        after number: Int64, limit: Int = 1_000
    ) async throws(EventStoreError) -> [StoredEvent] {
        try await read(long: true) { tables in
            var events: [StoredEvent] = []
            try tables.events("number > ?", [number], limit: max(limit, 1)) { event in
                if let event { events.append(event) }
                return true
            }
            return events
        }
    }

    /// Counts the events of a query in each step of a time range, by kind.
    ///
    /// - Parameters:
    ///   - query: the selection; its times, numbers and limit are not used.
    ///   - from: the beginning of the range.
    ///   - to: the end of the range.
    ///   - steps: the number of steps.
    /// - Returns: The counts of all steps, by kind.
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func counts(
        _ query: EventQuery = EventQuery(), from: Timestamp, to: Timestamp, steps: Int
    ) async throws(EventStoreError) -> [String: [Int]] {
        let (steps, width) = (min(max(steps, 1), 10_000), max(to.since(from), 1))
        var (query, counts) = (query, [String: [Int]]())
        (query.from, query.to, query.before, query.limit) = (from, to, nil, StoreTables.maximumExamined)
        repeat {
            let page = try await events(query)
            for stored in page.events {
                // Use floating point, because the product may exceed 64 bits.
                let share = Double(stored.event.time.since(from)) / Double(width)
                let step = min(max(Int(share * Double(steps)), 0), steps - 1)
                counts[stored.event.kind, default: Array(repeating: 0, count: steps)][step] += 1
            }
            query.before = page.next
        } while query.before != nil
        return counts
    }

    /// The highest number ever assigned to an event, including deleted events; 0 for none.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func newest() async throws(EventStoreError) -> Int64 { try await read { try $0.sequence() } }

    /// Returns the event with an id; nil if the store does not contain it or has deleted it.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func event(_ id: EventID) async throws(EventStoreError) -> StoredEvent? {
        try await read { tables in
            try tables.first(
                """
                SELECT \(StoreRow.columns) FROM event AS e
                WHERE number = (SELECT number FROM known WHERE id = ?)
                """, [id.bytes]
            ) { try $0.event() }
        }
    }

    /// Returns a value of the state; nil if it does not exist.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key within the namespace.
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func state(_ namespace: String, _ key: String) async throws(EventStoreError) -> StateRow? {
        try await readState { try $0.row(namespace, key) }
    }

    /// Returns values of a namespace, ordered by key.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - prefix: the beginning of the keys.
    ///   - key: the key after which to begin; nil to begin with the first.
    ///   - limit: the maximum number to return.
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func state(
        _ namespace: String, prefix: String = "", after key: String? = nil, limit: Int = 100_000
    ) async throws(EventStoreError) -> [StateRow] {
        try await readState { try $0.rows(namespace, prefix: prefix, after: key, limit: limit) }
    }

    /// Returns the result of a closure that reads a consistent snapshot of the state.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public nonisolated func readState<Value: Sendable>(
        _ body: @escaping @Sendable (StateReader) throws -> Value
    ) async throws(EventStoreError) -> Value {
        try await read { [shared] in try body(StateReader($0, shared.withLock { $0.ledger })) }
    }

    /// Returns the result of a closure like ``readState(_:)``, for callers that cannot suspend.
    package nonisolated func readStateBlocking<Value: Sendable>(
        _ body: @Sendable (StateReader) throws -> Value
    ) throws(EventStoreError) -> Value {
        func attempt() throws(EventStoreError) -> Value {
            guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
            do {
                return try open.reader.readBlocking { try body(StateReader($0, shared.withLock { $0.ledger })) }
            } catch {
                throw failure(error)
            }
        }
        do {
            return try attempt()
        } catch {
            guard error.code == .damaged else { throw error }
            try onQueue { store throws(EventStoreError) in try store.replaceDamagedFile(because: error) }
            return try attempt()
        }
    }

    /// Reads from the file. If the file is damaged and was replaced, it reads once more.
    ///
    /// - Parameters:
    ///   - long: true for a read that may take long and must not delay consumers.
    ///   - body: the reading closure.
    nonisolated func read<Value: Sendable>(
        long: Bool = false, _ body: @escaping @Sendable (StoreTables) throws -> Value
    ) async throws(EventStoreError) -> Value {
        var isFirst = true
        while true {
            guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
            do {
                return try await (long ? open.queries : open.reader).read(body)
            } catch {
                let failure = failure(error)
                guard failure.code == .damaged, isFirst else { throw failure }
                try await replaceDamagedFile(open, because: failure)
            }
            isFirst = false
        }
    }

    private nonisolated func failure(_ error: any Error) -> EventStoreError {
        // The store was closed during the read.
        if shared.withLock({ $0.file == nil }) { return .closed(file) }
        return EventStoreError(error, file, otherwise: .cannotRead)
    }
}
