import BeaconEventStore
import BeaconSupport

/// A destination of a running service, with the signals that wake and end it.
final class DestinationLine: Sendable {
    /// The time that a delivery in progress may take after its destination was asked to end.
    static let grace = Duration.seconds(3)

    private struct State {
        var destination: Destination
        var hasBegun = false
        var isEnding = false
        var isConnected = false
    }

    private let state: Locked<State>

    /// The lines that must end before this one begins: a broker closes a connection when a second one of the same name
    /// opens.
    let predecessors: [DestinationLine]

    /// The reader of its notifications.
    let consumer: EventConsumer

    /// Signals that there may be notifications to send, or that the line is ending.
    var signal: AsyncSignal { consumer.arrivals }

    /// Signals that the line must end, and that it has ended.
    let ending = AsyncSignal()
    let ended = AsyncSignal()

    /// Creates a line that has not begun.
    init(_ destination: Destination, _ consumer: EventConsumer, after predecessors: [DestinationLine] = []) {
        state = Locked(State(destination: destination))
        (self.consumer, self.predecessors) = (consumer, predecessors)
    }

    /// The destination.
    var destination: Destination { state.withLock { $0.destination } }

    /// Continues with a changed destination of the same name and connection. It may select other notifications.
    func update(_ destination: Destination) { state.withLock { $0.destination = destination } }

    /// Marks the line as begun, and returns whether it was not before.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// Whether the line was asked to end.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Ends the line after the delivery in progress. A line that has not begun never begins.
    func end() {
        let hasBegun = state.withLock { state in
            defer { (state.isEnding, state.hasBegun) = (true, true) }
            return state.hasBegun
        }
        ending.signal()
        signal.signal()
        if !hasBegun { ended.signal() }
    }

    /// Records a new connection, which ends the wait before the next attempt.
    func connect() {
        state.withLock { $0.isConnected = true }
        signal.signal()
    }

    /// Returns whether there was a new connection since the last call.
    func takeConnection() -> Bool {
        state.withLock { state in
            defer { state.isConnected = false }
            return state.isConnected
        }
    }
}
