package import BeaconEventStore
import BeaconSupport

/// The way of new events to everybody who looks at the console.
///
/// A listener that does not keep up is ended, and resumes by the number of the last event that it got; it costs the
/// others nothing.
package final class EventBroadcast: Sendable {
    /// What listeners are told.
    package enum Message: Sendable {
        /// An event has happened.
        case event(NumberedEvent)
        /// These lists are others now, and may be asked for.
        case changed(Set<Topic>)
        /// Nothing has happened for a while, and the connection is there.
        case heartbeat
    }

    /// A list that changes.
    package enum Topic: String, CaseIterable, Hashable, Sendable {
        case regions, places, receivers, advertising, rules, plan, installs
        case beacons = "registered-beacons"
    }

    /// The messages that wait for a listener: more than a second of a busy house.
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

    /// The number of those who listen.
    package var count: Int { listeners.withLock { $0.all.count } }

    /// Returns the messages from now on. It ends with the listener's task, and where the listener is too slow.
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

    /// Tells all listeners.
    package func send(_ message: Message) {
        let listeners = listeners.withLock { Array($0.all.values) }
        for listener in listeners {
            if case .dropped = listener.yield(message) { listener.finish() }
        }
    }

    /// Ends all listeners, since the daemon ends.
    package func finish() {
        let listeners = listeners.withLock { Array($0.all.values) }
        for listener in listeners { listener.finish() }
    }
}
