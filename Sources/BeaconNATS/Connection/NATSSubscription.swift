import BeaconSupport

/// A subscription to a subject, which each new connection renews.
///
/// It lasts until ``cancel()`` or the end of its ``NATSConnection``, even if the program holds no reference to it.
package final class NATSSubscription: Sendable {
    /// The subject, with or without wildcards.
    package let subject: String

    /// The maximum number of messages that wait in the library. Further messages are dropped.
    let limit: (messages: Int, bytes: Int)

    private struct State {
        var isCancelled = false

        /// The number under which the current connection delivers.
        var number: UInt?
    }

    private let state = Locked(State())
    // Delivers one message at a time: the thread of a connection that has ended may still deliver while the next one
    // starts.
    private let turn = Locked(())
    private let receive: @Sendable (NATSMessage) -> Void
    private let end: @Sendable (NATSSubscription) -> Void

    init(
        _ subject: String, limit: (messages: Int, bytes: Int), receive: @escaping @Sendable (NATSMessage) -> Void,
        end: @escaping @Sendable (NATSSubscription) -> Void
    ) {
        self.subject = subject
        self.limit = limit
        self.receive = receive
        self.end = end
    }

    /// Ends the subscription. A delivery that has already begun may continue; no further delivery begins.
    package func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst { end(self) }
    }

    /// Whether it was canceled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sets the number under which the current connection delivers; nil for none.
    func setNumber(_ number: UInt?) { state.withLock { $0.number = number } }

    /// Delivers a message, unless it is from a connection that has ended.
    func deliver(_ message: NATSMessage, number: UInt) {
        turn.withLock { _ in
            let isWanted = state.withLock { !$0.isCancelled && $0.number == number }
            if isWanted { receive(message) }
        }
    }
}
