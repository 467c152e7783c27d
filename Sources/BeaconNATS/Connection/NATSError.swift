/// An error of a connection to NATS, or of something that was asked over it, with its remedy.
package struct NATSError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidSettings, invalidMessage, libraryMissing, unreachable, notAuthorized, tlsFailed, notConnected
            case timedOut, noResponders, wrongLastSequence, notFound, tooFewServers, unavailable, refused, cancelled
            case closed, failed
        }

        private let value: Value

        /// The settings contain mistakes.
        package static let invalidSettings = Code(value: .invalidSettings)
        /// A subject, a key or a header is not valid, or a payload too large.
        package static let invalidMessage = Code(value: .invalidMessage)
        /// The library that speaks the protocol is not installed.
        package static let libraryMissing = Code(value: .libraryMissing)
        /// Nothing answers at the server's host and port.
        package static let unreachable = Code(value: .unreachable)
        /// The server does not accept the credentials, or the user does not have the right.
        package static let notAuthorized = Code(value: .notAuthorized)
        /// The connection could not be secured.
        package static let tlsFailed = Code(value: .tlsFailed)
        /// There is no connection, or it ended before an answer came.
        package static let notConnected = Code(value: .notConnected)
        /// No answer came in time.
        package static let timedOut = Code(value: .timedOut)
        /// Nobody listens to what was asked.
        package static let noResponders = Code(value: .noResponders)
        /// Something was written since the sequence that the writer knows of.
        package static let wrongLastSequence = Code(value: .wrongLastSequence)
        /// There is no such stream.
        package static let notFound = Code(value: .notFound)
        /// The cluster has not as many servers as a stream is to have replicas.
        package static let tooFewServers = Code(value: .tooFewServers)
        /// The servers cannot do it now, for instance while they elect a leader.
        package static let unavailable = Code(value: .unavailable)
        /// The server refuses it for another reason.
        package static let refused = Code(value: .refused)
        /// The task that waited was cancelled.
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

    /// The number of the error in JetStream, where it gave one.
    package var number: Int?

    /// The underlying error, such as that of the library.
    package var cause: (any Error)?

    /// An error from its parts.
    package init(_ code: Code, _ message: String, number: Int? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.number = number
        self.cause = cause
    }

    /// The message, and that of the cause.
    package var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension NATSError {
    /// The error of a connection that this program closed.
    static let closed = NATSError(.closed, "The connection to NATS is closed.")

    /// The error of what needs a connection while there is none.
    static let notConnected = NATSError(.notConnected, "There is no connection to NATS; it is made again by itself.")

    /// True for a failure after which the same may succeed later, or may have succeeded already.
    package var isTransient: Bool {
        switch code {
        case .notConnected, .timedOut, .noResponders, .unavailable, .unreachable, .failed: true
        default: false
        }
    }
}
