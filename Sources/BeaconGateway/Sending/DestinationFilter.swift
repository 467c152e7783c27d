import BeaconDelivery

/// Which notifications are a destination's business, by its list of regions.
struct DestinationFilter: Sendable {
    /// The regions that it is told of; nil for all.
    var regions: Set<String>?

    /// Whether a notification is for it.
    func wants(_ notification: BeaconNotification) -> Bool {
        guard let regions, notification.kind != .heartbeat else { return true }
        return notification.region.map { regions.contains($0.name) } ?? false
    }

    /// A notification without what is not its business: a heartbeat lists all regions.
    func apply(to notification: BeaconNotification) -> BeaconNotification {
        guard let regions else { return notification }
        var notification = notification
        notification.presence = notification.presence?.filter { regions.contains($0.region.name) }
        return notification
    }
}
