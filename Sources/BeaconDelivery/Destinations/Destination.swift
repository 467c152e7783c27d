public import BeaconEventStore

/// A receiver of notifications with a name: a consumer of the event store.
public struct Destination: Sendable {
    /// The user's name for the destination. Its mailbox is stored under this name, so a renamed destination is a new
    /// one.
    public var name: String

    /// The sender.
    public var sink: any Sink

    /// The kinds of notification to deliver; nil for all. ``Sink/filter`` must select them as well.
    public var kinds: Set<BeaconNotification.Kind>?

    /// The regions whose notifications are delivered; nil for all. A heartbeat has no region; it lists only these
    /// regions.
    public var regions: Set<String>?

    /// The waits between attempts.
    public var retryPolicy: RetryPolicy

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - sink: the sender.
    ///   - kinds: the kinds of notification to deliver; nil for all.
    ///   - regions: the regions whose notifications are delivered; nil for all.
    ///   - retryPolicy: the waits between attempts.
    public init(
        name: String, sink: any Sink, kinds: Set<BeaconNotification.Kind>? = nil,
        regions: Set<String>? = nil, retryPolicy: RetryPolicy = RetryPolicy()
    ) {
        self.name = name
        self.sink = sink
        self.kinds = kinds
        self.regions = regions
        self.retryPolicy = retryPolicy
    }

    /// The filter of its event consumer.
    public var filter: EventFilter {
        var filter = sink.filter.narrowed(toKinds: kinds.map { Set($0.map(\.rawValue)) })
        if let regions {
            (filter.regions, filter.kindsOfAnyRegion) = (regions, [BeaconNotification.Kind.heartbeat.rawValue])
        }
        return filter
    }

    /// Returns an event without the regions that this destination does not receive. Only heartbeats list regions.
    package func selection(of event: Event) -> Event {
        guard let regions, event.kind == BeaconNotification.Kind.heartbeat.rawValue,
            var notification = BeaconNotification(decoding: event)
        else { return event }
        notification.presence = notification.presence?.filter { regions.contains($0.region.name) }
        var event = event
        event.body = (try? notification.event().body) ?? event.body
        return event
    }

    /// Returns whether this destination receives a notification.
    public func wants(_ notification: BeaconNotification) -> Bool {
        filter.selects(kind: notification.kind.rawValue, region: notification.region?.name)
    }
}
