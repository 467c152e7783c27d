public import BeaconModel
import BeaconSupport

/// A notification in a destination's queue.
public struct OutboxEntry: Hashable, Sendable {
    /// The entry's position in the order of all notifications, in which each destination receives them.
    public var sequence: Int64

    /// The notification.
    public var notification: BeaconNotification

    /// The number of attempts to send it to this destination that failed.
    public var attempts: Int

    /// The reason why the destination refused it for good; nil unless it is a dead letter.
    public var refusal: String?

    /// An entry from its parts, for tests of sinks.
    ///
    /// - Parameters:
    ///   - sequence: its position in the order of all notifications.
    ///   - notification: the notification.
    ///   - attempts: the number of attempts that failed.
    ///   - refusal: the reason why it is a dead letter, where it is.
    public init(sequence: Int64, notification: BeaconNotification, attempts: Int = 0, refusal: String? = nil) {
        self.sequence = sequence
        self.notification = notification
        self.attempts = attempts
        self.refusal = refusal
    }
}

/// The bounds of an outbox. What exceeds them is dropped and counted, and drops are logged: first the oldest changes of
/// proximity and heartbeats, which later ones repeat, then the oldest of all.
public struct OutboxLimits: Hashable, Sendable {
    /// The longest time that a notification waits for a destination.
    public var maximumAge: Duration

    /// The most notifications that wait for a destination.
    public var maximumEntries: Int

    /// The most bytes of notifications that wait for a destination.
    public var maximumBytes: Int

    /// The most dead letters that are kept for a destination.
    public var maximumDeadLetters: Int

    /// The largest size of the file, in bytes; nil for no bound. Beyond it an append fails, whereas the other bounds
    /// drop what is oldest, so it should be well above them.
    public var maximumFileSize: Int?

    /// Bounds with the defaults: seven days, 100 000 notifications, 64 MB and 1 000 dead letters for each destination.
    ///
    /// - Parameters:
    ///   - maximumAge: the longest time that a notification waits.
    ///   - maximumEntries: the most notifications that wait.
    ///   - maximumBytes: the most bytes of notifications that wait.
    ///   - maximumDeadLetters: the most dead letters that are kept.
    ///   - maximumFileSize: the largest size of the file; nil for no bound.
    public init(
        maximumAge: Duration = .seconds(7 * 86_400), maximumEntries: Int = 100_000, maximumBytes: Int = 64 << 20,
        maximumDeadLetters: Int = 1_000, maximumFileSize: Int? = nil
    ) {
        self.maximumAge = maximumAge
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
        self.maximumDeadLetters = maximumDeadLetters
        self.maximumFileSize = maximumFileSize
    }
}

/// The status of a destination's queue. Its counts continue over restarts.
public struct QueueStatus: Hashable, Sendable {
    /// The destination's name.
    public var destination: String
    /// The number of notifications that wait.
    public var waiting = 0
    /// The number of bytes that they have.
    public var waitingBytes = 0
    /// The number of dead letters: notifications that were refused for good and are kept for inspection.
    public var deadLetters = 0
    /// The number of notifications that were ever appended.
    public var appended = 0
    /// The number of notifications that were ever delivered.
    public var delivered = 0
    /// The number of attempts that failed and were to be repeated.
    public var retried = 0
    /// The number of notifications that were ever refused for good.
    public var refused = 0
    /// The number of notifications that were dropped because they were too old.
    public var droppedByAge = 0
    /// The number of notifications that were dropped because too many waited, or there were too many dead letters.
    public var droppedBySize = 0
    /// The number of notifications that someone dropped by hand.
    public var droppedByHand = 0
    /// The number of notifications that were dropped because the destination's settings no longer want them.
    public var droppedBySettings = 0
    /// The number of heartbeats that a newer one replaced before they were sent.
    public var superseded = 0
    /// The number of attempts in a row that have failed; 0 while the destination accepts notifications.
    public var failures = 0
    /// When these attempts began, since 1970; nil while the destination accepts notifications.
    public var failingSince: Timestamp?
    /// The reason why the newest attempt failed; nil where it did not.
    public var lastError: String?
    /// The moment of the next attempt, since 1970; nil for at once.
    public var notBefore: Timestamp?

    /// The status of an empty queue.
    public init(destination: String) { self.destination = destination }

    /// The number of notifications that were dropped, for whatever reason.
    public var dropped: Int { droppedByAge + droppedBySize + droppedByHand + droppedBySettings }

    /// Returns true where the destination has failed for more than an hour: somebody should look at it.
    ///
    /// - Parameter now: the time since 1970.
    public func hasFailedForLong(at now: Timestamp) -> Bool {
        failingSince.map { now.since($0) >= DestinationWorker.longFailure.clampedNanoseconds } ?? false
    }
}
