package import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// The history of the console: events of the store, including those of apps and other beacond.
package struct EventHistory: Sendable {
    package let store: EventStore

    /// The events that rules have not processed yet: all from apps and other gateways, and those of this machine that
    /// rules may need. None of them is deleted.
    let forRules: EventConsumer

    /// Creates the history of a store.
    ///
    /// - Throws: `EventStoreError` if the store cannot be written.
    package init(_ store: EventStore) throws(EventStoreError) {
        self.store = store
        let kinds = HistoryEvent.Kind.allCases.filter(\.isForRules).map(\.rawValue)
        // Far beyond the normal backlog: intake refuses events before.
        let limits = ConsumerLimits(age: .seconds(3_660 * 86_400), events: 10_000_000, bytes: 1 << 30)
        forRules = try store.addHiddenConsumer("rules", filter: EventFilter(kinds: Set(kinds)), limits: limits)
    }

    // MARK: - Reading

    /// Events, newest first.
    package struct Page: Sendable {
        package var events: [NumberedEvent]
        /// The number before which the next page begins; nil at the end.
        package var next: Int64?
    }

    /// The selection of all events that the history shows.
    package static var everything: EventQuery {
        var query = EventQuery()
        query.kinds = HistoryEvent.Kind.allCases.map(\.rawValue)
        return query
    }

    /// Returns the events that a query selects, newest first.
    package func page(_ query: EventQuery) async throws(EventStoreError) -> Page {
        var query = query
        let limit = query.limit
        var page = Page(events: [], next: nil)
        // Repeats, since some events are only for delivery and a query reads a bounded number.
        repeat {
            query.limit = limit - page.events.count
            let part = try await store.events(query)
            page.events += part.events.compactMap { NumberedEvent($0) }
            (page.next, query.before) = (part.next, part.next)
        } while page.next != nil && page.events.count < limit
        return page
    }

    /// Returns the oldest events after one of them, in order.
    ///
    /// - Parameters:
    ///   - number: the number of the last known event.
    ///   - limit: the most events to read.
    /// - Returns: the events, and the number of the last one read; nil at the end.
    package func events(
        after number: Int64, limit: Int = 1_000
    ) async throws(EventStoreError) -> (events: [NumberedEvent], last: Int64?) {
        let events = try await store.events(after: number, limit: limit)
        return (events.compactMap { NumberedEvent($0) }, events.last?.number)
    }

    /// Counts the events that a query selects, by kind, in each step of a time span.
    package func counts(
        _ query: EventQuery, from: Timestamp, to: Timestamp, steps: Int
    ) async throws(EventStoreError) -> [String: [Int]] {
        try await store.counts(query, from: from, to: to, steps: steps) { HistoryEvent($0.event) != nil }
    }

    // MARK: - Events of apps and other gateways

    /// True while fewer events wait for rules than the history keeps. They stay until rules have processed them.
    package var hasRoom: Bool {
        get async throws(EventStoreError) { try await forRules.status().waiting < store.retention.events }
    }

    /// Stores events of apps and other gateways. When it returns, they are on the disk and survive a power failure.
    /// Events that it already has are skipped.
    ///
    /// - Returns: the number of new events.
    /// - Throws: `EventStoreError` if they cannot be stored. The history then has none of them, and the sender sends
    ///   them again.
    @discardableResult
    package func receive(_ events: [ReceivedEvent]) async throws(EventStoreError) -> Int {
        guard !events.isEmpty else { return 0 }
        return try await store.append(
            Step(events.map { $0.event.event($0.id, for: [HistoryEvent.rules]) })
        ).new
    }

    /// Returns the oldest events of apps and other gateways after one of them, whether processed or not.
    ///
    /// - Parameters:
    ///   - number: the number of the last known event.
    ///   - end: the number of the last event to read.
    func received(after number: Int64, through end: Int64) async throws(EventStoreError) -> [NumberedEvent] {
        var (events, last) = ([NumberedEvent](), number)
        while last < end, events.count < 1_000 {
            let part = try await store.events(after: last)
            guard let newest = part.last?.number else { break }
            events += part.filter { $0.number <= end && $0.event.sender != nil }.compactMap { NumberedEvent($0) }
            last = newest
        }
        return events
    }
}

/// An event that an app or another beacond sent.
package struct ReceivedEvent: Sendable {
    /// The id, made from the sender and the sender's name for the event, so that a repeated event is recognized.
    var id: EventID
    var event: HistoryEvent

    /// Creates a received event.
    ///
    /// - Parameters:
    ///   - name: the sender's name for it.
    ///   - event: the event, with its sender.
    package init(name: String, event: HistoryEvent) {
        id = EventID(hashing: "\(event.sender ?? "")\u{0}\(name)")
        self.event = event
    }
}

extension EventID {
    /// Creates an id that is always the same for a text: a UUID of version 8, whose content is up to its creator (RFC
    /// 9562, 5.8).
    init(hashing text: String) {
        let words = SHA256.hash(text.utf8).prefix(16).map { UInt64($0) }
        let high = words[..<8].reduce(0) { $0 << 8 | $1 }
        let low = words[8...].reduce(0) { $0 << 8 | $1 }
        self.init(
            ProximityUUID(
                high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
