public import BeaconModel

/// The health of an event store.
public struct EventStoreHealth: Hashable, Sendable {
    /// A failure to write.
    public struct Failure: Hashable, Sendable {
        /// The kind of failure.
        public var code: EventStoreError.Code
        /// The cause and the remedy.
        public var message: String
        /// When it began, by the wall clock.
        public var since: Timestamp
    }

    /// The failure to write; nil while the disk accepts steps.
    public var failure: Failure?
    /// True while a write takes longer than a second.
    public var isSlow = false
    /// The events that wait in memory for the disk.
    public var waitingEvents = 0
    /// The bytes of the steps that wait in memory.
    public var waitingBytes = 0
    /// The events that were dropped because more waited in memory than the bounds allow, by kind, since the opening.
    public var dropped: [String: Int] = [:]
    /// The events that could not be read, since the opening.
    public var damagedEvents = 0

    /// True while the store does its work.
    public var isGood: Bool { failure == nil && !isSlow }
}
