/// The UUID of a service in adverts: 16, 32 or 128 bits.
///
/// A short UUID stands for a long one: the Bluetooth Base UUID `00000000-0000-1000-8000-00805F9B34FB` with the short
/// one's bits in its first four bytes (Core Specification 5.3, Vol 3, Part B, 2.5.1). The two are equal.
public struct ServiceUUID: Hashable, Sendable, BitwiseCopyable {
    private static let baseHigh: UInt64 = 0x1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// The first 64 of the 128 bits.
    public let high: UInt64

    /// The last 64 of the 128 bits.
    public let low: UInt64

    /// Creates a UUID from its 128 bits.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the long form of a short UUID of 16 or 32 bits.
    public init(short: UInt32) { self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow) }

    /// Creates a UUID from its bytes, most significant first.
    ///
    /// - Returns: nil for a number of bytes other than 2, 4 and 16.
    public init?(bytes: some Collection<UInt8>) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 2, 4: self.init(short: UInt32(truncatingIfNeeded: number(bytes)))
        case 16: self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Reads 4, 8 or 32 hexadecimal digits; 32 may have hyphens.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(_ text: some StringProtocol) {
        if let long = ProximityUUID(text) {
            self.init(high: long.high, low: long.low)
        } else {
            guard [4, 8].contains(text.utf8.count), let short = UInt32(text, radix: 16), !text.hasPrefix("+") else {
                return nil
            }
            self.init(short: short)
        }
    }

    /// The bytes of the shortest form, most significant first: 2, 4 or 16.
    public var bytes: [UInt8] {
        func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) } }
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return bytes(high) + bytes(low) }
        let short = Array(bytes(high).prefix(4))
        return short.starts(with: [0, 0]) ? Array(short.dropFirst(2)) : short
    }
}

extension ServiceUUID: CustomStringConvertible {
    /// The digits of the shortest form, in upper case: `180D`, or with the usual hyphens.
    public var description: String {
        let bytes = bytes
        guard bytes.count == 16 else {
            return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        }
        return "\(ProximityUUID(high: high, low: low))".uppercased()
    }
}
