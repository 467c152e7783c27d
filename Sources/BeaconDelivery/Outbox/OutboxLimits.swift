/// How much an outbox keeps. What goes beyond is dropped, oldest first, and counted; a drop is logged.
public struct OutboxLimits: Hashable, Sendable {
    /// How long a notification waits for a destination.
    public var maximumAge: Duration

    /// How many notifications wait for a destination.
    public var maximumEntries: Int

    /// How many bytes of notifications wait for a destination.
    public var maximumBytes: Int

    /// How many notifications that were refused for good are shown for a destination.
    public var maximumParked: Int

    /// How large the file may grow, in bytes; nil for as large as there is room. Beyond it an append fails, whereas the
    /// other bounds drop what is oldest: it is the last fuse, and belongs well above the others.
    public var maximumFileSize: Int?

    /// Seven days, 100 000 notifications, 64 MB and 1 000 refused ones a destination.
    public init(
        maximumAge: Duration = .seconds(7 * 86_400), maximumEntries: Int = 100_000, maximumBytes: Int = 64 << 20,
        maximumParked: Int = 1_000, maximumFileSize: Int? = nil
    ) {
        self.maximumAge = maximumAge
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
        self.maximumParked = maximumParked
        self.maximumFileSize = maximumFileSize
    }
}
