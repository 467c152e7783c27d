/// A receiver's place in the table of names that its source keeps: `hci0` or `Room201` as a small number.
@frozen
public struct ReceiverID: Hashable, Sendable, BitwiseCopyable {
    /// The place in the table of names.
    public let index: UInt16

    /// The receiver at this place in its source's table of names.
    @inlinable
    public init(_ index: UInt16) { self.index = index }
}
