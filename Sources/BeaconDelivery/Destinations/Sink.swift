public import BeaconEventStore

/// A sender of notifications to one place: a webhook, Kumulos, a broker, a test.
///
/// A sink returns an outcome for each notification and stores nothing: order, repetition and waiting belong to the
/// ``DeliveryService``.
public protocol Sink: Sendable {
    /// The most notifications that one call of ``deliver(_:)`` takes, at least 1.
    var maximumBatch: Int { get }

    /// The notifications that are for this sink, by their kinds and regions. Others are never handed to it, unless
    /// they name it.
    var filter: EventFilter { get }

    /// Sends notifications, in order, and returns their outcomes.
    ///
    /// It may take as long as it needs, within time-outs of its own, and returns soon after its task is cancelled.
    ///
    /// - Parameter batch: the notifications, oldest first, at most ``maximumBatch`` of them.
    /// - Returns: an outcome for each notification that was tried, from the first on. Those that were not tried, for
    ///   instance because one before is to be tried again, have none and come again with the next call.
    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome]

    /// Runs beside the deliveries, for instance to maintain a connection. The call begins before the first delivery, is
    /// cancelled after the last, and may return at any time.
    ///
    /// - Parameter onConnection: to be called each time that a connection was made, which ends the wait before the next
    ///   attempt.
    func run(onConnection: @escaping @Sendable () -> Void) async
}

extension Sink {
    /// All notifications.
    public var filter: EventFilter { EventFilter() }

    /// Runs beside deliveries of the caller's own.
    public func run() async { await run(onConnection: {}) }

    /// Returns at once.
    public func run(onConnection: @escaping @Sendable () -> Void) async {}
}

/// The outcome of an attempt to send a notification.
///
/// A failure is about the notification or about the destination, and only the first is final: a key that is rotated, a
/// clock that is wrong, a server that moved or is misconfigured cost time and no notification.
@nonexhaustive
public enum DeliveryOutcome: Hashable, Sendable {
    /// The destination accepted the notification, which is not sent again.
    case delivered

    /// The destination did not accept the notification this time, for a reason of its own. It is sent again, and those
    /// behind it wait. Return this outcome when in doubt.
    ///
    /// - Parameters:
    ///   - reason: the cause, in words for the log and `beacond outbox list`, without secrets.
    ///   - after: the wait that the destination asked for (Retry-After); nil leaves it to the ``RetryPolicy``.
    case retry(reason: String, after: Duration? = nil)

    /// The destination refused this notification, for what is in it, and always will. It becomes a dead letter, which
    /// is listed and only sent again when someone asks for it. Those behind it are sent.
    ///
    /// - Parameter reason: the cause, in words for the log and `beacond outbox list`, without secrets.
    case refused(reason: String)
}

/// An error in a sink's configuration, with its remedy.
public struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidURL, invalidHeader, invalidSecret, invalidTrustRoots, invalidValue
        }

        private let value: Value

        /// An address cannot be used.
        public static let invalidURL = Code(value: .invalidURL)
        /// A header cannot be sent.
        public static let invalidHeader = Code(value: .invalidHeader)
        /// A secret has the wrong form.
        public static let invalidSecret = Code(value: .invalidSecret)
        /// The file of certificates to trust cannot be used.
        public static let invalidTrustRoots = Code(value: .invalidTrustRoots)
        /// Another value is out of range.
        public static let invalidValue = Code(value: .invalidValue)
    }

    /// The kind of failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two, without secrets.
    public var message: String

    /// An error from its parts.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: the cause and the remedy, in a sentence or two, without secrets.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
