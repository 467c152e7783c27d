package import BeaconDelivery
package import BeaconEventStore
import BeaconModel
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
        let kinds = BeaconNotification.Kind.forRules.map(\.rawValue)
        // Far beyond the normal backlog: intake refuses events before.
        let limits = ConsumerLimits(age: .seconds(3_660 * 86_400), events: 10_000_000, bytes: 1 << 30)
        forRules = try store.addHiddenConsumer("rules", filter: EventFilter(kinds: Set(kinds)), limits: limits)
    }

    // MARK: - Reading

    /// The selection of all events that the history shows.
    package static var everything: EventQuery {
        var query = EventQuery()
        query.kinds = BeaconNotification.Kind.shown.map(\.rawValue)
        return query
    }

    /// Returns the events that a query selects, newest first.
    package func page(_ query: EventQuery) async throws(EventStoreError) -> EventPage {
        var (page, rest) = (try await store.events(query), query)
        // Repeats, since a query reads a bounded number of events.
        while let next = page.next, page.events.count < query.limit {
            (rest.before, rest.limit) = (next, query.limit - page.events.count)
            let part = try await store.events(rest)
            page.events += part.events
            page.next = part.next
        }
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
    ) async throws(EventStoreError) -> (events: [StoredEvent], last: Int64?) {
        let events = try await store.events(after: number, limit: limit)
        return (events.filter(\.event.isShown), events.last?.number)
    }

    // MARK: - Events of apps and other gateways

    /// The reason why the history refuses events.
    package enum Refusal: Error {
        /// As many events wait for rules as the history keeps.
        case full
        /// The install belongs to another app.
        case foreignInstall
    }

    /// Stores events of apps and other gateways. When it returns, they are on the disk and survive a power failure.
    /// Events that it already has are skipped.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - sender: the app and the install that sent them; nil for a gateway. A new install belongs to its first app.
    /// - Returns: the number of new events.
    /// - Throws: ``Refusal``, or `EventStoreError` if they cannot be stored. The history then has none of them, and the
    ///   sender sends them again.
    @discardableResult
    package func receive(
        _ events: [BeaconNotification], from sender: (app: String, install: String)? = nil
    ) async throws -> Int {
        guard !events.isEmpty else { return 0 }
        var step = Step()
        for event in events { step.events.append(try event.event(for: [Event.rules])) }
        let (rules, bound, now) = (forRules, store.retention.events, store.wallTime)
        // In the transaction that stores the events, so that of two requests at once the second is refused.
        step.decision = { state, step in
            guard state.waiting(for: rules) < bound else { throw Refusal.full }
            guard let sender else { return }
            guard let known = try StoredPeople.installs([sender.install], in: state)[sender.install] else {
                let install = Install(id: sender.install, app: sender.app, first: now, last: now, events: 0)
                return step.changes += try StoredPeople.changes(saving: install)
            }
            guard known.app == sender.app else { throw Refusal.foreignInstall }
        }
        do {
            return try await store.append(step).new
        } catch {
            throw error.cause as? Refusal ?? error as any Error
        }
    }
}
