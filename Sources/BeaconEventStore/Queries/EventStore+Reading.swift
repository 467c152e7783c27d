public import BeaconModel
import BeaconSupport
import Foundation
import GRDB

/// Events and state as the disk has them. Reads wait for no write.
extension EventStore {
    /// Returns a page of the events that a query selects, newest first.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func events(_ query: EventQuery = EventQuery()) async throws(EventStoreError) -> EventPage {
        try await read(long: true) { try $0.page(query) }
    }

    /// Returns the oldest events after one of them, in order, whoever consumes them.
    ///
    /// - Parameters:
    ///   - number: the number of the last that is known; 0 for none.
    ///   - limit: the most to return.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
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

    /// Counts the events that a query selects in each step of a time, by kind.
    ///
    /// - Parameters:
    ///   - query: the selection; its times, numbers and limit are not used.
    ///   - from: the first moment.
    ///   - to: the last moment.
    ///   - steps: the number of steps.
    ///   - isCounted: returns false for events that do not count.
    /// - Returns: the counts of all steps, by kind.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func counts(
        _ query: EventQuery = EventQuery(), from: Timestamp, to: Timestamp, steps: Int,
        where isCounted: @escaping @Sendable (StoredEvent) -> Bool = { _ in true }
    ) async throws(EventStoreError) -> [String: [Int]] {
        let steps = min(max(steps, 1), 10_000)
        var counts: [String: [Int]] = [:]
        var before: Int64?
        repeat {
            let next = before
            let page = try await read(long: true) {
                try $0.counts(query, from: from, to: to, steps: steps, before: next, where: isCounted)
            }
            counts.merge(page.counts) { zip($0, $1).map { $0 + $1 } }
            before = page.next
        } while before != nil
        return counts
    }

    /// The number of the newest event that was ever stored, whatever became of it; 0 for none.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func newest() async throws(EventStoreError) -> Int64 { try await read { try $0.sequence() } }

    /// Returns the event of a name; nil if the store does not have it, or no longer.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func event(_ id: EventID) async throws(EventStoreError) -> StoredEvent? {
        try await read { tables in
            try tables.first(
                """
                SELECT \(StoreRow.columns) FROM event
                WHERE number = (SELECT number FROM known WHERE id = ?)
                """, [id.bytes]
            ) { try $0.event() }
        }
    }

    /// Returns a value of the state; nil if there is no such value.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key within the namespace.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func state(_ namespace: String, _ key: String) async throws(EventStoreError) -> StateRow? {
        try await read { try StateReader($0).row(namespace, key) }
    }

    /// Returns values of a namespace by key, in order.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - prefix: the beginning of the keys.
    ///   - key: the last key that is known; nil to begin with the first.
    ///   - limit: the most to return.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func state(
        _ namespace: String, prefix: String = "", after key: String? = nil, limit: Int = 100_000
    ) async throws(EventStoreError) -> [StateRow] {
        try await read { try StateReader($0).rows(namespace, prefix: prefix, after: key, limit: limit) }
    }

    /// Returns what a closure reads from the state, all of it as it is at one moment.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func readState<Value: Sendable>(
        _ body: @escaping @Sendable (StateReader) throws -> Value
    ) async throws(EventStoreError) -> Value {
        try await read { try body(StateReader($0)) }
    }

    /// Returns what a closure reads from the state, as ``readState(_:)``, for callers that cannot suspend.
    package nonisolated func readStateBlocking<Value: Sendable>(
        _ body: @Sendable (StateReader) throws -> Value
    ) throws(EventStoreError) -> Value {
        do {
            return try attempt { try $0.reader.readBlocking { try body(StateReader($0)) } }
        } catch {
            guard error.code == .damaged else { throw error }
            try onQueue { store throws(EventStoreError) in try store.replaceDamagedFile(because: error) }
            return try attempt { try $0.reader.readBlocking { try body(StateReader($0)) } }
        }
    }

    private nonisolated func attempt<Value>(_ body: (StoreFile) throws -> Value) throws(EventStoreError) -> Value {
        guard let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        do {
            return try body(open)
        } catch {
            throw failure(error)
        }
    }

    /// Reads from the file, and once more where it was damaged and is replaced.
    ///
    /// - Parameters:
    ///   - long: true for a reading that may take long, and must not hold up consumers.
    ///   - body: the reading.
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
        // Closed while it was read.
        if shared.withLock({ $0.file == nil }) { return .closed(file) }
        return EventStoreError(error, file, otherwise: .cannotRead)
    }
}
