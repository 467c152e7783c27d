/// Walks the AD structures of an advert without copying it.
///
/// The walk ends at the end of the advert, at a length of zero (which the Core Specification, Vol 3, Part C, 11 calls
/// early termination), and at a structure that claims more bytes than the advert has: what came before stays valid.
@frozen
public struct AdvertisingStructureCursor: Sendable {
    @usableFromInline var offset = 0

    /// A cursor before the first structure.
    @inlinable
    public init() {}

    /// The next structure of `advert`, which has to be the same for each call, or nil at the end.
    @inlinable
    public mutating func next(in advert: RawSpan) -> AdvertisingStructure? {
        let remaining = advert.byteCount &- offset
        guard remaining >= 2 else { return nil }
        let length = Int(advert.byte(at: offset))
        guard length > 0, length < remaining else { return nil }
        defer { offset &+= length &+ 1 }
        return AdvertisingStructure(type: advert.byte(at: offset &+ 1), offset: offset &+ 2, count: length &- 1)
    }
}
