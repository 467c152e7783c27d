/// Where notifications wait until they are delivered, and for how long.
public struct OutboxSettings: Hashable, Sendable {
    /// The file.
    public var path: String

    /// How old a notification may become undelivered before it is dropped; nil for the usual.
    public var maximumAge: Duration?

    /// How many may wait for a destination before the oldest are dropped; nil for the usual.
    public var maximumEntries: Int?

    /// How many bytes may wait for a destination before the oldest are dropped; nil for the usual.
    public var maximumBytes: Int64?

    /// An outbox at a path.
    public init(path: String) { self.path = path }
}
