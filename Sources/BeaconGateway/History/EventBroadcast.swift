package import BeaconEventStore
import BeaconSupport

/// The broadcast of new events to all clients of the console.
///
/// A listener that is too slow is disconnected, and resumes with the number of its last event. It does not slow down
/// others.
package final class EventBroadcast: Sendable {
    /// A message to listeners.
    package enum Message: Sendable {
        /// An event has happened.
        case event(NumberedEvent)
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

    private let listeners = Locked<(next: Int, all: [Int: AsyncStream<Message>.Continuation])>((0, [:]))

    /// Creates a broadcast.
    ///
    /// - Parameter store: the store whose events listeners get; nil for none.
    package init(_ store: EventStore?) {
        store?.follow { [weak self] events in
            guard let self, count > 0 else { return }
            for event in events.compactMap({ NumberedEvent($0) }) { send(.event(event)) }
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
