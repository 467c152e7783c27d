/// A notification in a destination's queue.
public struct OutboxEntry: Hashable, Sendable {
    /// Its place in the order of all notifications, which is the order in which each destination gets them.
    public var sequence: Int64

    /// The notification.
    public var notification: BeaconNotification

    /// How often it was sent to this destination without success.
    public var attempts: Int

    /// Why it was refused for good, where it was; it is then parked.
    public var refusal: String?

    /// An entry from its parts, as a test of a sink needs one.
    public init(sequence: Int64, notification: BeaconNotification, attempts: Int = 0, refusal: String? = nil) {
        self.sequence = sequence
        self.notification = notification
        self.attempts = attempts
        self.refusal = refusal
    }
}
