package import BeaconDelivery
package import BeaconEventStore
package import BeaconGateway
package import BeaconModel
import BeaconSupport

extension EventHistory {
    /// Stores events without notifications, like a gateway does.
    package func append(_ events: [BeaconNotification]) async throws {
        try await store.append(Step(events.map { try $0.event(for: []) }))
    }

    /// All events, newest first.
    package var all: [RecordedEvent] {
        get async throws {
            var query = Self.everything
            query.limit = 100_000
            return try await page(query).events.compactMap(RecordedEvent.init)
        }
    }
}

extension BeaconNotification {
    private static let ids = Locked(EventIDs())

    /// Creates an event of the history.
    package static func shown(
        _ kind: Kind, at time: Timestamp = .zero, _ summary: String = "s", receiver: String? = nil,
        region: String? = nil, beacon: BeaconIdentity? = nil, proximity: Proximity? = nil
    ) -> Self {
        var event = BeaconNotification(id: ids.withLock { $0.next(at: time) }, kind: kind, time: time)
        (event.summary, event.receiver, event.beacon) = (summary, receiver, beacon)
        event.region = region.map { Region(name: $0, constraint: GatewayBench.constraint) }
        event.proximity = proximity
        return event
    }

    /// Reads the events of a step that destinations get.
    package static func sent(in events: [Event]) -> [BeaconNotification] {
        events.filter { $0.audience == nil }.compactMap { BeaconNotification(decoding: $0) }
    }
}
