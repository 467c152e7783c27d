import BeaconDelivery

/// Notifications that the outbox could not store, until it can: its disk is full, for instance. Their number is
/// bounded.
struct PendingNotifications {
    /// The most notifications that wait in memory while the disk is full: some 10 MB.
    static let most = 10_000

    private(set) var notifications: [BeaconNotification] = []

    /// The number that were lost, oldest first, since there were too many.
    private(set) var lost = 0

    mutating func add(_ new: [BeaconNotification]) {
        notifications += new
        let excess = notifications.count - Self.most
        guard excess > 0 else { return }
        notifications.removeFirst(excess)
        lost += excess
    }

    /// Removes all, since they were written.
    mutating func clear() { notifications.removeAll() }

    /// Counts all as lost and removes them.
    mutating func loseAll() {
        lost += notifications.count
        notifications.removeAll()
    }
}
