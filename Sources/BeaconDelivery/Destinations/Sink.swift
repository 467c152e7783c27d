public import BeaconEventStore

/// A sender of notifications to one receiver, for example a webhook, Kumulos, a broker or a test.
///
/// A sink returns an outcome for each notification and stores nothing. The ``DeliveryService`` handles order,
/// repetition and waits.
public protocol Sink: Sendable {
    /// The maximum number of notifications for one call of ``deliver(_:)``, at least 1.
    var maximumBatch: Int { get }

    /// The notifications that this sink accepts, by their kinds and regions. It receives others only if they name its
    /// destination.
    var filter: EventFilter { get }

    /// Sends notifications, in order, and returns their outcomes.
    ///
    /// It may take as long as it needs, within its own time-outs, and returns soon after its task is canceled.
    ///
    /// - Parameter batch: the notifications, oldest first, at most ``maximumBatch`` of them.
    /// - Returns: An outcome for each notification that was tried, from the first on. Leave out the others, for
    ///   instance those after one that needs a retry: the next call contains them again.
    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome]

    /// Runs alongside the deliveries, for instance to maintain a connection. The call begins before the first delivery,
    /// is canceled after the last, and may return at any time.
    ///
    /// - Parameter onConnection: a closure to call after each new connection. It ends the wait before the next attempt.
    func run(onConnection: @escaping @Sendable () -> Void) async
}

extension Sink {
    /// A filter that selects all notifications.
    public var filter: EventFilter { EventFilter() }

    /// Runs the sink for a caller that handles deliveries itself.
    public func run() async { await run(onConnection: {}) }

    /// Returns at once.
    public func run(onConnection: @escaping @Sendable () -> Void) async {}
}

/// The outcome of an attempt to send a notification.
///
/// A failure concerns either the notification or the destination, and only the former is final. A rotated key, a wrong
/// clock, a moved or a misconfigured server cause a delay but no loss.
@nonexhaustive
public enum DeliveryOutcome: Hashable, Sendable {
    /// The destination accepted the notification, which is not sent again.
    case delivered

    /// The destination could not accept the notification this time, for a reason unrelated to its content. It is sent
    /// again, and later notifications wait. When in doubt, return this outcome.
    ///
    /// - Parameters:
    ///   - reason: the cause, as a text for the log and `beacond outbox list`, without secrets.
    ///   - after: the wait that the destination requested (Retry-After); nil leaves it to the ``RetryPolicy``.
    case retry(reason: String, after: Duration? = nil)

    /// The destination refused this notification because of its content, and always will. It becomes a dead letter,
    /// which is listed and is sent again only on request. Later notifications are sent.
    ///
    /// - Parameter reason: the cause, as a text for the log and `beacond outbox list`, without secrets.
    case refused(reason: String)
}

/// An error in a sink's configuration, with its remedy.
public struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure. More kinds may be added, so a `switch` over codes needs a default.
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
        /// The file of trusted certificates cannot be used.
        public static let invalidTrustRoots = Code(value: .invalidTrustRoots)
        /// Another value is out of range.
        public static let invalidValue = Code(value: .invalidValue)
    }

    /// The kind of failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two, without secrets.
    public var message: String

    /// Creates an error.
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
