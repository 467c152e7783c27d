/// What a source has delivered so far.
public struct SourceCounts: Hashable, Sendable, BitwiseCopyable {
    /// Records read, whatever was in them.
    public var packets = 0

    /// Adverts heard, damaged ones too.
    public var reports = 0

    /// Adverts that the receiver, or the check sum that came along, says are damaged.
    public var badCRC = 0

    /// Nothing so far.
    public init() {}
}
