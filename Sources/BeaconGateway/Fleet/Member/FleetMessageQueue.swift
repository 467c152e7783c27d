import BeaconFleet
import BeaconModel
import BeaconSupport

/// A queue of messages and events from a fleet.
final class FleetMessageQueue: Sendable {
    /// A message or an event, with its time of arrival.
    struct Item: Sendable {
        enum Content: Sendable {
            case heard(partition: Int, relay: FleetRelay, message: [UInt8])
            case connected
            case lost(String)
            case refused(String)
            /// Messages of a partition, or of all if nil, were dropped since the item's time.
            case dropped(partition: Int?)
        }

        var time: Timestamp
        var content: Content
    }

    /// The most messages and bytes that wait: some seconds of a worker's load.
    private static let (maximumMessages, maximumBytes) = (200_000, 128 << 20)

    private struct State {
        var items: [Item] = []
        var bytes = 0
        /// The time since when messages are dropped because the queue is full.
        var full: Timestamp?
    }

    /// Signaled when an item is added.
    let signal = AsyncSignal()
    private let state = Locked(State())
    private let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// Adds a message from any thread.
    func add(_ content: Item.Content) {
        let time = now()
        let isFirst = state.withLock { state in
            if case .heard(_, _, let message) = content {
                guard state.items.count < Self.maximumMessages, state.bytes + message.count <= Self.maximumBytes else {
                    state.full = state.full ?? time
                    return false
                }
                state.bytes += message.count
            }
            state.items.append(Item(time: time, content: content))
            return state.items.count == 1
        }
        if isFirst { signal.signal() }
    }

    /// Returns the items since the last call.
    func take() -> [Item] {
        state.withLock { state in
            defer { state = State() }
            guard let full = state.full else { return state.items }
            // The dropped messages could be of any partition.
            return state.items + [Item(time: full, content: .dropped(partition: nil))]
        }
    }
}
