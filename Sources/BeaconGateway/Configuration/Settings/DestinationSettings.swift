public import BeaconDelivery

/// A place that notifications go to.
public struct DestinationSettings: Hashable, Sendable {
    /// What kind of place it is, and how to reach it.
    public enum Kind: Hashable, Sendable {
        /// An address that takes HTTP.
        case webhook(WebhookSettings)
        /// Kumulos, or what stands in for it.
        case kumulos(KumulosSettings)
        /// A broker.
        case mqtt(MQTTSettings)
    }

    /// What messages and `beacond outbox` call it. Its queue goes by it.
    public var name: String

    /// What it is.
    public var kind: Kind

    /// The regions that it is told of; nil for all.
    public var regions: Set<String>?

    /// The kinds of notification that it gets; nil for all that there are.
    public var news: Set<BeaconNotification.Kind>?

    /// A destination of this name, for everything.
    public init(
        name: String, kind: Kind, regions: Set<String>? = nil, news: Set<BeaconNotification.Kind>? = nil
    ) {
        self.name = name
        self.kind = kind
        self.regions = regions
        self.news = news
    }
}
