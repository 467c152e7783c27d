/// An error of a NATS connection or request, with its remedy.
package struct NATSError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package enum Code: Sendable {
        case invalidSettings, invalidMessage, libraryMissing, unreachable, notAuthorized, tlsFailed, notConnected
        case timedOut, noResponders, wrongLastSequence, notFound, tooFewServers, unavailable, refused, cancelled
        case closed, failed
    }

    /// The kind of failure.
    package var code: Code

    /// The cause and the remedy, in a sentence or two.
    package var message: String

    /// JetStream's error number, if it sent one.
    package var number: Int?

    /// The underlying error, such as the library's.
    package var cause: (any Error)?

    /// Creates an error.
    package init(_ code: Code, _ message: String, number: Int? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.number = number
        self.cause = cause
    }

    /// The message, followed by the cause's description.
    package var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension NATSError {
    /// The error for use of a connection that this program closed.
    static let closed = NATSError(.closed, "The connection to NATS is closed.")

    /// The error for a call that needs a connection while disconnected.
    static let notConnected = NATSError(.notConnected, "There is no connection to NATS; it reconnects automatically.")

    /// Whether the same call may succeed later, or may have succeeded already.
    package var isTransient: Bool {
        switch code {
        case .notConnected, .timedOut, .noResponders, .unavailable, .unreachable, .failed: true
        default: false
        }
    }
}
