/// A place that notifications are delivered to, under a name, with its own queue in the outbox.
public struct Destination: Sendable {
    /// What the user calls it. Its queue goes by it, so that a destination that is renamed is a new one.
    public var name: String

    /// What sends.
    public var sink: any Sink

    /// The kinds of notification that are for it; nil for all. ``Sink/wants(_:)`` has to agree as well.
    public var kinds: Set<BeaconNotification.Kind>?

    /// How long to wait between attempts.
    public var backOff: BackOff

    /// A destination of this name.
    public init(
        name: String, sink: any Sink, kinds: Set<BeaconNotification.Kind>? = nil, backOff: BackOff = BackOff()
    ) {
        self.name = name
        self.sink = sink
        self.kinds = kinds
        self.backOff = backOff
    }

    /// Whether a notification is for this destination.
    public func wants(_ notification: BeaconNotification) -> Bool {
        (kinds?.contains(notification.kind) ?? true) && sink.wants(notification)
    }
}
