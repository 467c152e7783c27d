import CLibrary

/// The bounds and timing of an event store.
public struct EventStoreSettings: Sendable {
    /// The bounds of the history. An event beyond them is deleted once no consumer needs it.
    public struct Retention: Hashable, Sendable {
        /// The longest time since an event's arrival.
        public var age: Duration
        /// The maximum number of events.
        public var events: Int
        /// The maximum number of bytes of events.
        public var bytes: Int
        /// The maximum number of ids that are remembered, including those of deleted events, to recognize a sender's
        /// repetitions.
        public var names: Int

        /// Creates bounds.
        ///
        /// - Parameters:
        ///   - age: the longest time since an event's arrival.
        ///   - events: the maximum number of events.
        ///   - bytes: the maximum number of bytes of events.
        ///   - names: the maximum number of ids that are remembered.
        public init(
            age: Duration = .seconds(90 * 86_400), events: Int = 100_000, bytes: Int = 256 << 20,
            names: Int = 250_000
        ) {
            (self.age, self.events, self.bytes, self.names) = (age, events, bytes, names)
        }

        /// Bounds for a file that is only a queue: events are deleted as soon as no consumer needs them.
        public static let none = Retention(age: .zero, events: 0, names: 50_000)
    }

    /// The bounds of the history.
    public var retention = Retention()
    /// The bounds of namespaces of the state.
    public var state: [String: StateLimits] = [:]
    /// The bounds of all other namespaces of the state.
    public var otherState = StateLimits()
    /// The maximum number of events that wait in memory while the disk fails.
    public var waitingEvents = 10_000
    /// The maximum number of bytes of steps that wait in memory.
    public var waitingBytes = 16 << 20
    /// The longest time that an enqueued step waits for others to be written with it.
    public var coalescing = Duration.milliseconds(50)
    /// The maximum size of the file, in bytes; nil for no limit. Beyond it writes fail, whereas the other bounds delete
    /// the oldest data. It should therefore be well above them.
    public var maximumFileSize: Int?

    /// The interval between looks for changes by other processes, such as `beacond outbox`.
    package var watch = EventStoreSettings.housekeeping

    /// Returns whether a start waits longer for SQLite's lock, after a pause: five seconds in all. Its parameter is the
    /// number of earlier pauses. After a killed process, the first program that reads the file locks it while it
    /// recovers the log (SQLite, "Write-Ahead Logging"), and a copy may take longer.
    package var waitsForLock: @Sendable (Int) -> Bool = { pauses in
        usleep(10_000)
        return pauses < 500
    }

    /// The number of events that are examined, and deleted, in one transaction.
    package var piece = 500

    /// Creates default settings.
    public init() {}

    func limits(of namespace: String) -> StateLimits { state[namespace] ?? otherState }

    /// The maximum number of events of one transaction. On a disk whose syncs take seconds, a transaction has to hold
    /// most of what waits.
    static let group = 4_000

    /// The interval between attempts to write while no caller waits.
    static let retry = Duration.seconds(1)

    /// The interval between rounds of housekeeping.
    static let housekeeping = Duration.seconds(10)

    /// The number of rounds of housekeeping between searches for old state: once in ten minutes.
    static let roundsOfExpiry = 60
}
