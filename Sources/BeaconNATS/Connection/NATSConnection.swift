/// A connection to NATS that is made again whenever it is lost.
///
/// It works in the background from the beginning, until ``close()`` or until nobody holds it. Nothing is kept for later
/// while there is no connection: whoever publishes is told.
///
/// libnats speaks the protocol and TLS. What JetStream is asked goes over it as JSON.
package final class NATSConnection: Sendable {
    /// What happens to a connection.
    package enum Event: Sendable {
        /// A server accepted the connection, and knows all subscriptions.
        case connected
        /// The connection was lost.
        case disconnected(NATSError?)
        /// No server could be connected to. Attempts go on, and are told of when they fail in another way.
        case failed(NATSError)
        /// The server refused a subscription, or a message that somebody published.
        case refused(NATSError)
        /// Messages of a subscription were dropped, since more came than were received.
        case dropped(subject: String)
        /// The connection was closed by this program. It is the last event.
        case closed
    }

    /// The settings.
    package let options: NATSSettings

    private let keeper: ConnectionKeeper

    /// Makes a connection, in the background; it returns at once.
    ///
    /// - Parameter report: called with the events, in order, on a thread of its own.
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
                .failed, "Cannot start the thread of a connection: the system has too many; end some and try again.")
        }
    }

    deinit { keeper.close() }

    /// Whether there is a connection. One whose server went without a word counts for up to 15 seconds.
    package var isConnected: Bool { keeper.isConnected }

    /// Publishes a message to whoever listens now. It does not wait for the network, except for about a second at most
    /// where a server has ceased to read.
    ///
    /// What was written shortly before a connection is lost may be lost with it, without an error.
    ///
    /// - Throws: ``NATSError``: `notConnected` where there is no connection; `invalidMessage` where the subject is not
    ///   valid or the payload too large.
    package func publish(_ payload: [UInt8], to subject: String) throws(NATSError) {
        try NATSName.check(subject: subject, allowsWildcards: false)
        try keeper.link().publish(payload, to: subject)
    }

    /// Subscribes to a subject, which may have the wildcards `*` and `>`, for this connection and all that follow it.
    ///
    /// - Parameters:
    ///   - limit: the most messages, and bytes of them, that wait to be received; more are dropped, which is an event.
    ///   - receive: called with each message, in order, on a thread of the library. It should be quick.
    /// - Throws: ``NATSError``: `invalidMessage` where the subject is not valid; `closed` after ``close()``.
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
    /// - Throws: ``NATSError``: `notConnected` where there is no connection, or it is lost before an answer comes;
    ///   `noResponders` where nobody listens; `timedOut`; `cancelled` where the task is.
    package func request(
        _ payload: [UInt8], headers: [String: String] = [:], to subject: String, within time: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSMessage {
        try NATSName.check(subject: subject, allowsWildcards: false)
        for text in headers.flatMap({ [$0.key, $0.value] }) {
            try NATSName.check(header: text)
        }
        return try await keeper.request(payload, headers: headers, to: subject, within: time)
    }

    /// Disconnects for good. Requests that wait fail at once. A message that is being received at this moment may still
    /// be; the event ``Event/closed`` follows, up to some seconds later, on its thread.
    package func close() { keeper.close() }
}
