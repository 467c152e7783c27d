/// An error of a NATS connection or request, with its remedy.
package struct NATSError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More kinds may be added, so a `switch` over codes needs a default.
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidSettings, invalidMessage, libraryMissing, unreachable, notAuthorized, tlsFailed, notConnected
            case timedOut, noResponders, wrongLastSequence, notFound, tooFewServers, unavailable, refused, cancelled
            case closed, failed
        }

        private let value: Value

        /// The settings contain mistakes.
        package static let invalidSettings = Code(value: .invalidSettings)
        /// A subject, a key or a header is not valid, or a payload is too large.
        package static let invalidMessage = Code(value: .invalidMessage)
        /// The library that implements the protocol is not installed.
        package static let libraryMissing = Code(value: .libraryMissing)
        /// Nothing answers at the server's host and port.
        package static let unreachable = Code(value: .unreachable)
        /// The server does not accept the credentials, or the user lacks a permission.
        package static let notAuthorized = Code(value: .notAuthorized)
        /// The connection could not be secured.
        package static let tlsFailed = Code(value: .tlsFailed)
        /// There is no connection, or it ended before an answer arrived.
        package static let notConnected = Code(value: .notConnected)
        /// No answer arrived in time.
        package static let timedOut = Code(value: .timedOut)
        /// The subject of a request has no subscriber.
        package static let noResponders = Code(value: .noResponders)
        /// Another message was written after the sequence that the writer expected.
        package static let wrongLastSequence = Code(value: .wrongLastSequence)
        /// There is no such stream.
        package static let notFound = Code(value: .notFound)
        /// The cluster has fewer servers than the stream needs replicas.
        package static let tooFewServers = Code(value: .tooFewServers)
        /// The servers cannot serve the request now, for instance while they elect a leader.
        package static let unavailable = Code(value: .unavailable)
        /// The server refuses the request for another reason.
        package static let refused = Code(value: .refused)
        /// The waiting task was canceled.
        package static let cancelled = Code(value: .cancelled)
        /// The connection was closed by this program.
        package static let closed = Code(value: .closed)
        /// Another failure.
        package static let failed = Code(value: .failed)
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
