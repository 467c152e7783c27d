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
