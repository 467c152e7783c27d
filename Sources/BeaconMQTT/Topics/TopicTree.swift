import BeaconDelivery

/// The topics of a gateway.
struct TopicTree: Hashable, Sendable {
    /// What all of them begin with.
    let base: String

    /// Where a notification goes.
    func event(_ notification: BeaconNotification) -> String {
        // What is about no region has a level all the same, so that `event/+/enter` and the like stay simple.
        let region = notification.region.map { TopicLevel.escape($0.name) } ?? "-"
        return "\(base)/event/\(region)/\(TopicLevel.escape(notification.kind.rawValue))"
    }

    /// Where the state of a region is kept.
    func regionState(_ name: String) -> String { "\(base)/region/\(TopicLevel.escape(name))/state" }

    /// Where the state of a beacon is kept.
    func beaconState(_ name: String) -> String { "\(base)/beacon/\(TopicLevel.escape(name))/state" }

    /// What to subscribe to for all that may be retained, other than the availability.
    var retainedFilters: [String] { ["\(base)/region/#", "\(base)/beacon/#"] }

    /// Whether a topic is one that this gateway retains something at, or did.
    func owns(_ topic: String) -> Bool { topic.hasPrefix("\(base)/region/") || topic.hasPrefix("\(base)/beacon/") }
}
