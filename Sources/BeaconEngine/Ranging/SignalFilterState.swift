/// What a ``SignalFilter`` remembers of one beacon: six numbers, whose meaning is the filter's own.
public struct SignalFilterState: Sendable, BitwiseCopyable {
    /// The numbers, all zero for a beacon that is new.
    public var values = InlineArray<6, Float>(repeating: 0)

    /// The state of a beacon that is new.
    public init() {}
}
