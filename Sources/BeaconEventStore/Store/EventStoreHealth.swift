public import BeaconModel

/// The health of an event store.
public struct EventStoreHealth: Hashable, Sendable {
    /// A failure to write.
    public struct Failure: Hashable, Sendable {
        /// The kind of failure.
        public var code: EventStoreError.Code
        /// The cause and the remedy.
        public var message: String
        /// The wall-clock time at which it began.
        public var since: Timestamp
    }

    /// The current failure to write; nil while the disk accepts steps.
    public var failure: Failure?
    /// Whether a write has been taking longer than a second.
    public var isSlow = false
    /// The number of events that wait in memory for the disk.
    public var waitingEvents = 0
    /// The size of the steps that wait in memory, in bytes.
    public var waitingBytes = 0
    /// The number of events, by kind, that were dropped since the opening because too many waited in memory.
    public var dropped: [String: Int] = [:]
    /// The number of unreadable events since the opening.
    public var damagedEvents = 0

    /// Whether the store works normally.
    public var isGood: Bool { failure == nil && !isSlow }
}
