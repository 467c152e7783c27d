package import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Crypto
import Foundation

/// The history that the console shows: events of the store, including those of apps and other beacond.
package struct EventHistory: Sendable {
    package let store: EventStore

    /// The events that rules have not looked at: those from elsewhere, and of those from here the ones in which rules
    /// may have an interest. None of them is deleted.
    let forRules: EventConsumer

    /// The history of a store.
    ///
    /// - Throws: `EventStoreError` where the store cannot be written.
    package init(_ store: EventStore) throws(EventStoreError) {
        self.store = store
        let kinds = HistoryEvent.Kind.allCases.filter(\.isForRules).map(\.rawValue)
        // Far beyond what waits while all is well: intake refuses events before.
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
        // Some events are only sent, and a query reads a bounded number at once.
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
    ///   - number: the number of the last that is known.
    ///   - limit: the most to read.
    /// - Returns: the events, and the number of the last that was read; nil at the end.
    package func events(
        after number: Int64, limit: Int = 1_000
    ) async throws(EventStoreError) -> (events: [NumberedEvent], last: Int64?) {
        let events = try await store.events(after: number, limit: limit)
        return (events.compactMap { NumberedEvent($0) }, events.last?.number)
    }

    /// Counts the events that a query selects in each step of a time, by kind.
    package func counts(
        _ query: EventQuery, from: Timestamp, to: Timestamp, steps: Int
    ) async throws(EventStoreError) -> [String: [Int]] {
        try await store.counts(query, from: from, to: to, steps: steps) { HistoryEvent($0.event) != nil }
    }

    // MARK: - Events from elsewhere

    /// True while fewer events wait for rules than the history keeps. They stay until rules have looked at them.
    package var hasRoom: Bool {
        get async throws(EventStoreError) { try await forRules.status().waiting < store.retention.events }
    }

    /// Keeps events from elsewhere. When it returns, they are on the disk, and stay there though the power fails; those
    /// that were there already are passed over.
    ///
    /// - Returns: the number of those that are new.
    /// - Throws: `EventStoreError` where they cannot be kept. The history has none of them then, and the sender sends
    ///   them again.
    @discardableResult
    package func receive(_ events: [ReceivedEvent]) async throws(EventStoreError) -> Int {
        guard !events.isEmpty else { return 0 }
        return try await store.append(
            Step(events.map { $0.event.event($0.id, for: [HistoryEvent.rules]) })
        ).new
    }

    /// Returns the oldest events from elsewhere after one of them, whether they are worked through or not.
    ///
    /// - Parameters:
    ///   - number: the number of the last that is known.
    ///   - end: the number of the last event to look at.
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
    /// The name, made of the sender and the sender's own name for it, so that one that comes twice is recognized.
    var id: EventID
    var event: HistoryEvent

    /// Creates a received event.
    ///
    /// - Parameters:
    ///   - name: the sender's own name for it.
    ///   - event: the event, with its sender.
    package init(name: String, event: HistoryEvent) {
        id = EventID(hashing: "\(event.sender ?? "")\u{0}\(name)")
        self.event = event
    }
}

extension EventID {
    /// Creates the name that a text always gives: a UUID of version 8, whose content is its maker's own (RFC 9562,
    /// 5.8).
    init(hashing text: String) {
        let words = SHA256.hash(data: Data(text.utf8)).prefix(16).map { UInt64($0) }
        let high = words[..<8].reduce(0) { $0 << 8 | $1 }
        let low = words[8...].reduce(0) { $0 << 8 | $1 }
        self.init(
            ProximityUUID(
                high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
