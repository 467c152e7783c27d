import BeaconDelivery
import BeaconEventStore
import Foundation

/// The topics of a gateway, below its base topic.
struct TopicTree: Hashable, Sendable {
    /// The base topic.
    let base: String

    /// Returns the topic of a notification.
    func event(_ event: Event) -> String {
        // The level exists even without a region, so that filters such as `event/+/enter` match.
        // The body has names that are too long for an attribute, too.
        let name = event.region ?? event.body.member("region")?.text(of: "name")
        let region = name.map(TopicLevel.escape) ?? "-"
        return "\(base)/event/\(region)/\(TopicLevel.escape(event.kind))"
    }

    /// Returns the topic of a region's retained state.
    func regionState(_ name: String) -> String { "\(base)/region/\(TopicLevel.escape(name))/state" }

    /// Returns the topic of a beacon's retained state.
    func beaconState(_ name: String) -> String { "\(base)/beacon/\(TopicLevel.escape(name))/state" }

    /// Returns the topic of a region's enter and exit events.
    func regionEvent(_ name: String) -> String { "\(base)/region/\(TopicLevel.escape(name))/event" }

    /// Returns the topic of a beacon's enter and exit events.
    func beaconEvent(_ name: String) -> String { "\(base)/beacon/\(TopicLevel.escape(name))/event" }

    /// Returns the topic of a place's retained state.
    func placeState(_ name: String) -> String { "\(base)/place/\(TopicLevel.escape(name))/state" }

    /// Returns the topic of a receiver's retained diagnostics.
    func receiverState(_ name: String) -> String { "\(base)/receiver/\(TopicLevel.escape(name))/state" }

    /// The topic of the gateway's retained diagnostics.
    var gatewayState: String { "\(base)/gateway/state" }

    private static let retainedLevels = ["region", "beacon", "place", "receiver", "gateway"]

    /// The filters of all topics that may be retained, except the availability.
    var retainedFilters: [String] { Self.retainedLevels.map { "\(base)/\($0)/#" } }

    /// Returns whether this gateway retains messages at a topic, or did in an earlier run.
    func owns(_ topic: String) -> Bool { Self.retainedLevels.contains { topic.hasPrefix("\(base)/\($0)/") } }
}
