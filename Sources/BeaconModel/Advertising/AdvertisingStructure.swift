/// One advertising data (AD) structure: a type byte and the place of its value in the advert.
@frozen
public struct AdvertisingStructure: Sendable, BitwiseCopyable {
    /// What the value is, by the Bluetooth assigned numbers; see the constants of this type.
    public let type: UInt8

    /// Where in the advert the value begins.
    public let offset: Int

    /// How many bytes the value has.
    public let count: Int

    /// Discoverability and BR/EDR support.
    @inlinable public static var flags: UInt8 { 0x01 }

    /// A company identifier, least significant byte first, and whatever that company puts behind it.
    @inlinable public static var manufacturerSpecificData: UInt8 { 0xFF }

    @inlinable
    init(type: UInt8, offset: Int, count: Int) {
        self.type = type
        self.offset = offset
        self.count = count
    }
}
