import BeaconDelivery
import BeaconEventStore

/// Notifications on their way to the event store, and those that it could not take, until it can: its disk is full,
/// for instance. The number of the latter is bounded.
struct PendingNotifications {
    /// The most notifications that wait in memory while the disk is full: some 10 MB.
    static let most = 10_000

    private(set) var notifications: [BeaconNotification] = []

    /// The number that were lost, since there were too many or they could not be written at all.
    private(set) var lost = 0

    mutating func add(_ new: [BeaconNotification]) { notifications += new }

    /// Drops what is beyond the bound: first the oldest that later ones repeat, then the oldest.
    ///
    /// - Returns: the number that were dropped.
    mutating func enforceBound() -> Int {
        let excess = max(notifications.count - Self.most, 0)
        guard excess > 0 else { return 0 }
        var left = excess
        notifications.removeAll { notification in
            guard left > 0, notification.kind.priority < .essential else { return false }
            left -= 1
            return true
        }
        notifications.removeFirst(left)
        lost += excess
        return excess
    }

    /// Removes the oldest, since they were written.
    mutating func removeFirst(_ count: Int) { notifications.removeFirst(count) }

    /// Counts the oldest as lost and removes it.
    mutating func loseFirst() {
        lost += 1
        notifications.removeFirst()
    }

    /// Counts all as lost and removes them.
    mutating func loseAll() {
        lost += notifications.count
        notifications.removeAll()
    }
}
