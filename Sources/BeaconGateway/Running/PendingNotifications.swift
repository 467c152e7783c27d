import BeaconDelivery

/// Notifications that the outbox could not take, until it can: its disk is full, for instance. Their number is bounded.
struct PendingNotifications {
    /// What a gateway with a full disk keeps in its memory: some 10 MB.
    static let most = 10_000

    private(set) var notifications: [BeaconNotification] = []

    /// How many were lost, oldest first, since there were too many.
    private(set) var lost = 0

    mutating func add(_ new: [BeaconNotification]) {
        notifications += new
        let excess = notifications.count - Self.most
        guard excess > 0 else { return }
        notifications.removeFirst(excess)
        lost += excess
    }

    /// They were taken.
    mutating func clear() { notifications.removeAll() }

    /// They can be kept no longer.
    mutating func loseAll() {
        lost += notifications.count
        notifications.removeAll()
    }
}
