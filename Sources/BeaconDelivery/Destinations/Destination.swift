public import BeaconEventStore

/// A place that notifications are delivered to, with a name: a consumer of the event store.
public struct Destination: Sendable {
    /// The user's name for the destination. Its position has this name: a destination that is renamed is a new one.
    public var name: String

    /// The sender.
    public var sink: any Sink

    /// The kinds of notification to deliver; nil for all. ``Sink/filter`` has to select it as well.
    public var kinds: Set<BeaconNotification.Kind>?

    /// The regions whose notifications are delivered; nil for all. A heartbeat has no region, and lists those of them.
    public var regions: Set<String>?

    /// The waits between attempts.
    public var retryPolicy: RetryPolicy

    /// A destination of this name.
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

    /// The filter of its consumer.
    public var filter: EventFilter {
        var filter = sink.filter.narrowed(toKinds: kinds.map { Set($0.map(\.rawValue)) })
        if let regions {
            (filter.regions, filter.kindsOfAnyRegion) = (regions, [BeaconNotification.Kind.heartbeat.rawValue])
        }
        return filter
    }

    /// Returns a notification without the regions that are not for this destination, which a heartbeat lists.
    package func selection(of notification: BeaconNotification) -> BeaconNotification {
        guard let regions else { return notification }
        var notification = notification
        notification.presence = notification.presence?.filter { regions.contains($0.region.name) }
        return notification
    }

    /// Returns true for a notification that is for this destination.
    public func wants(_ notification: BeaconNotification) -> Bool {
        filter.selects(kind: notification.kind.rawValue, region: notification.region?.name)
    }
}
