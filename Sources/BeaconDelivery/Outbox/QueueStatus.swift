public import BeaconModel

/// How a destination's queue stands. Its counts go over restarts.
public struct QueueStatus: Hashable, Sendable {
    /// The destination.
    public var destination: String
    /// How many notifications wait.
    public var waiting = 0
    /// How many bytes they have.
    public var waitingBytes = 0
    /// How many were refused for good and are kept to be looked at.
    public var parked = 0
    /// How many were ever put in.
    public var appended = 0
    /// How many were ever delivered.
    public var delivered = 0
    /// How many attempts failed and were to be repeated.
    public var retried = 0
    /// How many were ever refused for good.
    public var refused = 0
    /// How many were dropped since they grew too old.
    public var droppedByAge = 0
    /// How many were dropped since too much waited, or too many were parked.
    public var droppedBySize = 0
    /// How many somebody dropped by hand.
    public var droppedByHand = 0
    /// How many heartbeats gave way to a newer one before they were sent.
    public var superseded = 0
    /// How many attempts in a row have failed; 0 where all is well.
    public var failures = 0
    /// Why the newest attempt failed; nil where it did not.
    public var lastError: String?
    /// When the next attempt is to be, since 1970; nil for at once.
    public var notBefore: Timestamp?

    /// A queue of which nothing is known.
    public init(destination: String) { self.destination = destination }
}
