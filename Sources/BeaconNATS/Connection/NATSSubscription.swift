import BeaconSupport

/// The interest in a subject, which outlasts connections: each new one is told of it.
///
/// It lasts until ``cancel()`` or the end of its ``NATSConnection``, also where nobody holds it.
package final class NATSSubscription: Sendable {
    /// The subject, with or without wildcards.
    package let subject: String

    /// The most messages that wait in the library to be received. More than these are dropped.
    let limit: (messages: Int, bytes: Int)

    private struct State {
        var isCancelled = false

        /// The number under which the present connection delivers.
        var number: UInt?
    }

    private let state = Locked(State())
    /// One message at a time: the thread of a connection that ended may still deliver while that of the next begins.
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

    /// Ends the interest. A message that is being received at this moment may still be; none begins to be afterwards.
    package func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst { end(self) }
    }

    /// Whether it was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sets the number under which the present connection delivers; nil for none.
    func setNumber(_ number: UInt?) { state.withLock { $0.number = number } }

    /// Hands a message on, unless it comes from a connection that is over.
    func deliver(_ message: NATSMessage, number: UInt) {
        turn.withLock { _ in
            let isWanted = state.withLock { !$0.isCancelled && $0.number == number }
            if isWanted { receive(message) }
        }
    }
}
