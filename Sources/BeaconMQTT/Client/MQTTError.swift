/// Why something did not come to a broker, and what to do about it.
public struct MQTTError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidOptions, hostUnknown, unreachable, badCredentials, notAuthorized, connectionRefused, tlsFailed
            case connectionLost, timedOut, messageRefused, invalidMessage, closed, failed
        }

        private let value: Value

        /// The options cannot be used as they are.
        public static let invalidOptions = Code(value: .invalidOptions)
        /// Nothing is known of the broker's host.
        public static let hostUnknown = Code(value: .hostUnknown)
        /// Nothing answers at the broker's host and port.
        public static let unreachable = Code(value: .unreachable)
        /// The broker does not know the user, or not with this password.
        public static let badCredentials = Code(value: .badCredentials)
        /// The broker knows the user, who may not do this.
        public static let notAuthorized = Code(value: .notAuthorized)
        /// The broker answers and wants no connection, for another reason.
        public static let connectionRefused = Code(value: .connectionRefused)
        /// The connection could not be secured.
        public static let tlsFailed = Code(value: .tlsFailed)
        /// The connection ended before the broker acknowledged.
        public static let connectionLost = Code(value: .connectionLost)
        /// The broker did not acknowledge in time.
        public static let timedOut = Code(value: .timedOut)
        /// The broker took the message and refused it.
        public static let messageRefused = Code(value: .messageRefused)
        /// The message cannot be sent as it is.
        public static let invalidMessage = Code(value: .invalidMessage)
        /// The client was closed.
        public static let closed = Code(value: .closed)
        /// It was tried and did not work.
        public static let failed = Code(value: .failed)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, in a sentence or two.
    public var message: String

    /// The reason code that the broker gave, where it gave one.
    public var reason: MQTTReason?

    /// What led to it, such as the words of the TLS library.
    public var cause: (any Error)?

    /// An error from its parts.
    public init(_ code: Code, _ message: String, reason: MQTTReason? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.reason = reason
        self.cause = cause
    }

    /// The message, and the cause's.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
