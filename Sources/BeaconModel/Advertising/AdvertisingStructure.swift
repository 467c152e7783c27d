/// An advertising data (AD) structure: a type byte and the position of its value in the advert.
@frozen
public struct AdvertisingStructure: Sendable, BitwiseCopyable {
    /// The AD type, from the Bluetooth assigned numbers; see the constants of this type.
    public let type: UInt8

    /// The offset of the value in the advert.
    public let offset: Int

    /// The number of bytes of the value.
    public let count: Int

    /// Discoverability and BR/EDR support.
    @inlinable public static var flags: UInt8 { 0x01 }

    /// A company identifier, least significant byte first, followed by the company's data.
    @inlinable public static var manufacturerSpecificData: UInt8 { 0xFF }

    @inlinable
    init(type: UInt8, offset: Int, count: Int) {
        self.type = type
        self.offset = offset
        self.count = count
    }
}

/// A walk over the AD structures of an advert, without copying it.
///
/// The walk ends at the end of the advert, at a length of zero (which the Core Specification, Vol 3, Part C, 11 calls
/// early termination), and at a structure that claims more bytes than the advert has. The structures before stay valid.
@frozen
public struct AdvertisingStructureCursor: Sendable {
    @usableFromInline var offset = 0

    /// Creates a cursor before the first structure.
    @inlinable
    public init() {}

    /// Returns the next structure of `advert`, which must be the same for each call, or nil at the end.
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
