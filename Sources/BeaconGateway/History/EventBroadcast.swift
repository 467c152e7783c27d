package import BeaconEventStore
package import BeaconModel
import BeaconSupport
package import Foundation

/// The broadcast of new events to all clients of the console.
///
/// A listener that is too slow is disconnected, and resumes with the number of its last event. It does not slow down
/// others.
package final class EventBroadcast: Sendable {
    /// A message to listeners.
    package enum Message: Sendable {
        /// An event has happened: its number in the history, nil while it waits for the disk, and its JSON, which is
        /// rendered once for all listeners.
        case event(EventID, number: Int64?, json: Data)
        /// These lists have changed and can be requested.
        case changed(Set<Topic>)
        /// No event for a while; the connection is alive.
        case heartbeat
    }

    /// A list that changes.
    package enum Topic: String, CaseIterable, Hashable, Sendable {
        case regions, places, receivers, advertising, rules, plan, installs
        case beacons = "registered-beacons"
    }

    /// The most messages that wait for a listener: more than a second of a busy house.
    private static let capacity = 512

    /// The events that are on their way to the disk, and that no listener has.
    private let waiting = Locked<[Event]>([])
    private let listeners = Locked<(next: Int, all: [Int: AsyncStream<Message>.Continuation])>((0, [:]))

    /// Creates a broadcast.
    ///
    /// - Parameter store: the store whose events listeners get; nil for none.
    package init(_ store: EventStore?) {
        store?.follow { [weak self] events in
            self?.waiting.withLock { waiting in
                if !waiting.isEmpty {
                    let stored = Set(events.map(\.event.id))
                    waiting.removeAll { stored.contains($0.id) }
                }
                for event in events { self?.show(event.event, event.number) }
            }
        } failing: { [weak self, weak store] in
            if let store { self?.showWaiting(store.health) }
        }
    }

    /// The number of listeners.
    package var count: Int { listeners.withLock { $0.all.count } }

    /// Returns the messages from now on. The stream ends with the listener's task, or if the listener is too slow.
    package func messages() -> AsyncStream<Message> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Message.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.all.removeValue(forKey: number) }
        }
        return stream
    }

    /// Shows an event to all listeners, if it is one that the history shows.
    ///
    /// - Parameter number: its number in the history; nil while it waits for the disk.
    private func show(_ event: Event, _ number: Int64? = nil) {
        if event.isShown, count > 0 { send(.event(event.id, number: number, json: event.head(number))) }
    }

    /// Notes events that the store gets now. Listeners get them once they are on the disk, or from ``showWaiting(_:)``.
    func expect(_ events: [Event]) {
        if count > 0 { waiting.withLock { $0 += events } }
    }

    /// Shows the events that wait for a disk that is slow or fails.
    func showWaiting(_ health: EventStoreHealth) {
        waiting.withLock { waiting in
            if !health.isGood { for event in waiting { show(event) } }
            if !health.isGood || health.waitingEvents == 0 { waiting = [] }
        }
    }

    /// Sends a message to all listeners.
    package func send(_ message: Message) {
        let listeners = listeners.withLock { Array($0.all.values) }
        for listener in listeners {
            if case .dropped = listener.yield(message) { listener.finish() }
        }
    }

    /// Ends all listeners, because the daemon ends.
    package func finish() {
        let listeners = listeners.withLock { Array($0.all.values) }
        for listener in listeners { listener.finish() }
    }
}
