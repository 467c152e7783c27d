/// One place that takes notifications: a webhook, Kumulos, a broker, a test.
///
/// A sink says what became of each notification and keeps nothing: order, repeating and waiting are the outbox's and the
/// ``DeliveryService``'s.
public protocol Sink: Sendable {
    /// The most notifications that one call of ``deliver(_:)`` takes, at least 1.
    var maximumBatch: Int { get }

    /// Whether a notification is for this sink at all. One that is not is never put into its queue. It is asked when a
    /// notification comes in, before it is durable, and has to be quick.
    func wants(_ notification: BeaconNotification) -> Bool

    /// Sends notifications, in order, and says what became of them.
    ///
    /// It may take as long as it needs, bounds that by time-outs of its own, and returns soon when its task is cancelled.
    ///
    /// - Returns: an outcome for each notification that was tried, from the first on. The rest, which was not tried (for
    ///   instance because one before is to be tried again), is left out and comes again with the next call.
    func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome]

    /// Runs beside the deliveries, for a connection that is kept up. It begins before the first delivery, is cancelled
    /// after the last, and may return at any time.
    func run() async
}

extension Sink {
    /// Everything.
    public func wants(_ notification: BeaconNotification) -> Bool { true }

    /// Nothing.
    public func run() async {}
}
