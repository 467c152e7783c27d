/// A connection to NATS that reconnects after each loss.
///
/// It works in the background until ``close()`` or until its last reference is released. It stores no messages while
/// disconnected: publishing then throws an error.
///
/// libnats implements the protocol and TLS. JetStream requests are sent over the connection as JSON.
package final class NATSConnection: Sendable {
    /// A change of a connection's state, or a problem with it.
    package enum Event: Sendable {
        /// A server accepted the connection, and all subscriptions are active.
        case connected
        /// The connection was lost.
        case disconnected(NATSError?)
        /// No server accepted a connection. Attempts continue; each different failure is reported.
        case failed(NATSError)
        /// The server refused a subscription or a published message.
        case refused(NATSError)
        /// Messages of a subscription were dropped, because they arrived faster than they were processed.
        case dropped(subject: String)
        /// The connection was closed by this program. It is the last event.
        case closed
    }

    /// The settings.
    package let options: NATSSettings

    private let keeper: ConnectionKeeper

    /// Creates a connection, which connects in the background.
    ///
    /// - Parameter report: a closure that is called with the events, in order, on a separate thread.
    /// - Throws: ``NATSError`` with the code `invalidSettings`, which lists all mistakes, or `libraryMissing`.
    package init(
        _ options: NATSSettings, report: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(NATSError) {
        let mistakes = options.mistakes()
        guard mistakes.isEmpty else {
            throw NATSError(.invalidSettings, "The settings for NATS: \(mistakes.joined(separator: "; ")).")
        }
        try NATSLink.checkLibrary()
        self.options = options
        keeper = ConnectionKeeper(options, report: report)
        guard keeper.start() else {
            throw NATSError(
                .failed, "Cannot start a connection's thread: the system has too many threads; end some and try again.")
        }
    }

    deinit { keeper.close() }

    /// Whether a server is connected. If a server vanishes silently, this stays `true` for up to 15 seconds.
    package var isConnected: Bool { keeper.isConnected }

    /// Publishes a message to the current subscribers. It does not wait for the network, except for about one second at
    /// most if a server no longer reads.
    ///
    /// A message published shortly before a disconnection can be lost without an error.
    ///
    /// - Throws: ``NATSError``: `notConnected` if there is no connection; `invalidMessage` if the subject is not valid
    ///   or the payload is too large.
    package func publish(_ payload: [UInt8], to subject: String) throws(NATSError) {
        try NATSName.check(subject: subject, allowsWildcards: false)
        try keeper.link().publish(payload, to: subject)
    }

    /// Subscribes to a subject, which may contain the wildcards `*` and `>`, on this connection and after each
    /// reconnection.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of waiting messages, and of their bytes.
    ///     Further messages are dropped, and an event reports this.
    ///   - receive: a closure that is called with each message, in order, on a thread of the library. It should be
    ///     quick.
    /// - Throws: ``NATSError``: `invalidMessage` if the subject is not valid; `closed` after ``close()``.
    @discardableResult
    package func subscribe(
        _ subject: String, limit: (messages: Int, bytes: Int) = (65_536, 64 << 20),
        receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        try NATSName.check(subject: subject, allowsWildcards: true)
        return try keeper.subscribe(subject, limit: limit, receive: receive)
    }

    /// Publishes a message and returns the first answer.
    ///
    /// - Throws: ``NATSError``: `notConnected` if there is no connection, or if it is lost before an answer arrives;
    ///   `noResponders` if the subject has no subscriber; `timedOut`; `cancelled` if the task is canceled.
    package func request(
        _ payload: [UInt8], headers: [String: String] = [:], to subject: String, within time: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSMessage {
        try NATSName.check(subject: subject, allowsWildcards: false)
        for text in headers.flatMap({ [$0.key, $0.value] }) {
            try NATSName.check(header: text)
        }
        return try await keeper.request(payload, headers: headers, to: subject, within: time)
    }

    /// Disconnects permanently. Pending requests fail at once. A message that is already being delivered may still
    /// arrive. The event ``Event/closed`` follows on the event thread, up to some seconds later.
    package func close() { keeper.close() }
}
