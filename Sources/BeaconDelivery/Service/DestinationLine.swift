import BeaconEventStore
import BeaconSupport

/// A destination of a service while the service runs: its sender, and the signals that wake and end it.
final class DestinationLine: Sendable {
    /// The time that a delivery under way may take before it is given up, where the destination ends.
    static let grace = Duration.seconds(3)

    private struct State {
        var destination: Destination
        var consumer: EventConsumer
        var hasBegun = false
        var isEnding = false
        var isConnected = false
    }

    private let state: Locked<State>

    /// The lines that end before this one begins: two connections of one name would end each other.
    let predecessors: [DestinationLine]

    /// The signal that there may be something to send, or the line is ending.
    let signal: AsyncSignal

    /// The signals that the line is to end, and has ended.
    let ending = AsyncSignal()
    let ended = AsyncSignal()

    /// A line that has not begun.
    init(_ destination: Destination, _ consumer: EventConsumer, after predecessors: [DestinationLine] = []) {
        state = Locked(State(destination: destination, consumer: consumer))
        signal = consumer.arrivals
        self.predecessors = predecessors
    }

    /// The destination.
    var destination: Destination { state.withLock { $0.destination } }

    /// The reader of its notifications.
    var consumer: EventConsumer { state.withLock { $0.consumer } }

    /// Goes on with a destination of the same name and the same connection, which may want other notifications.
    func update(_ destination: Destination, _ consumer: EventConsumer) {
        state.withLock { ($0.destination, $0.consumer) = (destination, consumer) }
    }

    /// Returns true the first time.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// True where the line is to end.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Ends the line once the delivery under way has ended. One that has not begun never begins.
    func end() {
        let hasBegun = state.withLock { state in
            defer { (state.isEnding, state.hasBegun) = (true, true) }
            return state.hasBegun
        }
        ending.signal()
        signal.signal()
        if !hasBegun { ended.signal() }
    }

    /// Notes that a connection was made, which ends the wait before the next attempt.
    func connect() {
        state.withLock { $0.isConnected = true }
        signal.signal()
    }

    /// Returns whether a connection was made since the last call.
    func takeConnection() -> Bool {
        state.withLock { state in
            defer { state.isConnected = false }
            return state.isConnected
        }
    }
}
