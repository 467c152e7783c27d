import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation

/// An event on its way to the event store: its form in the history, and the notification of it.
struct GatewayEvent: Sendable {
    /// The name. It identifies repetitions.
    var id: EventID
    /// The form for the console and the rules; nil without a console and rules.
    var history: HistoryEvent?
    /// The notification for destinations; nil without one.
    var notification: BeaconNotification?
    /// The consumers that it is for.
    var reach = Reach.everyone

    /// The consumers of an event.
    enum Reach: Sendable {
        /// Rules, and the destinations that want its notification.
        case everyone
        /// The destinations alone: the store has the event, for the others. So it is with events of a fleet, which one
        /// machine delivers.
        case destinations
        /// The history alone: it happened in a fleet while this machine was away.
        case history
    }

    /// Creates the event of a notification, under the notification's name.
    init(_ notification: BeaconNotification, history: HistoryEvent? = nil) {
        (id, self.notification, self.history) = (notification.id, notification, history)
    }

    /// Creates an event that is only shown.
    init(_ history: HistoryEvent, id: EventID) { (self.id, self.history) = (id, history) }

    /// The order in which events are given up where not all can be kept.
    var priority: Event.Priority { notification?.kind.priority ?? history?.kind.priority ?? .normal }

    /// Returns the event for the store; nil if no destination, console or rule needs it.
    ///
    /// - Parameter isWanted: whether a destination wants the notification.
    /// - Throws: `EventStoreError` with the code `invalid`, where nothing of it can be written.
    func stored(isWanted: Bool) throws(EventStoreError) -> Event? {
        guard let notification, isWanted else {
            return history.map { history in
                let isForRules = reach == .everyone && history.kind.isForRules
                return history.event(id, for: isForRules ? [HistoryEvent.rules] : [])
            }
        }
        var event = try notification.event()
        if let history { history.add(to: &event) }
        return event
    }
}

/// Events on their way to the event store, and those that it could not take, until it can: its disk is full, for
/// instance. The number of the latter is bounded.
struct PendingEvents {
    /// The most events that wait in memory while the disk is full: some 10 MB.
    static let most = 10_000

    private(set) var events: [GatewayEvent] = []

    /// The number of notifications that were lost, since there were too many or they could not be written at all.
    private(set) var lost = 0

    /// The number of the first events that those who look know of already, though they are not stored.
    private(set) var told = 0

    /// True where nothing waits.
    var isEmpty: Bool { events.isEmpty }

    /// The number of notifications that wait.
    var notifications: Int { events.count { $0.notification != nil } }

    mutating func add(_ new: [GatewayEvent]) { events += new }

    /// Returns the events that those who look do not know of, and counts them as told.
    mutating func tell() -> ArraySlice<GatewayEvent> {
        defer { told = events.count }
        return events[told...]
    }

    /// Drops what is beyond the bound: first the oldest that later ones repeat, then the oldest.
    ///
    /// - Returns: the number of notifications that were dropped.
    mutating func enforceBound() -> Int {
        let excess = max(events.count - Self.most, 0)
        guard excess > 0 else { return 0 }
        let before = notifications
        var left = excess
        events.removeAll { event in
            guard left > 0, event.priority < .essential else { return false }
            left -= 1
            return true
        }
        events.removeFirst(left)
        // Those that are dropped are old, and told.
        told = max(told - excess, 0)
        let dropped = before - notifications
        lost += dropped
        return dropped
    }

    /// Removes the oldest, since they were written.
    mutating func removeFirst(_ count: Int) {
        events.removeFirst(count)
        told = max(told - count, 0)
    }

    /// Counts the oldest as lost and removes it.
    mutating func loseFirst() {
        lost += events.first?.notification == nil ? 0 : 1
        removeFirst(1)
    }

    /// Counts all as lost and removes them.
    mutating func loseAll() {
        lost += notifications
        (events, told) = ([], 0)
    }
}
