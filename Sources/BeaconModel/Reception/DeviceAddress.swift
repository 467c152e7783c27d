/// The Bluetooth device address of an advertiser, with its kind.
///
/// Phones change their address every few minutes, so an address proves no identity. It distinguishes two devices that
/// advertise the same identity at the same time.
@frozen
public struct DeviceAddress: Hashable, Sendable, BitwiseCopyable {
    /// The origin of an address, by HCI's numbering (Core Specification, Vol 4, Part E, 7.7.65.2).
    @frozen
    public enum Kind: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
        /// Registered with the IEEE.
        case `public` = 0
        /// Chosen by the device: static, resolvable or not resolvable, by its two top bits.
        case random = 1
        /// A public identity that the controller resolved from a private address.
        case publicIdentity = 2
        /// A random static identity that the controller resolved from a private address.
        case randomIdentity = 3
        /// Unspecified by the source, for instance in a sighting log.
        case unspecified = 0xFE
        /// The device sent no address.
        case anonymous = 0xFF
    }

    /// The number of bits of an address.
    @usableFromInline static var bitCount: UInt64 { 48 }

    /// The kind's number above the 48 bits. Both are in one word because each advert is looked up by both.
    @usableFromInline package let word: UInt64

    /// The 48 bits, with the byte that is printed first in the highest place.
    @inlinable
    public var bits: UInt64 { word & (1 &<< Self.bitCount &- 1) }

    /// The origin of the address.
    @inlinable
    public var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: word &>> Self.bitCount)) ?? .unspecified }

    /// Creates an address from the low 48 bits of `bits`.
    @inlinable
    public init(bits: UInt64, kind: Kind) {
        word = bits & (1 &<< Self.bitCount &- 1) | UInt64(kind.rawValue) &<< Self.bitCount
    }

    /// Creates an address from its ``word``.
    @inlinable
    package init(word: UInt64) { self.word = word }

    /// Reads `aa:bb:cc:dd:ee:ff`, in either case.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(_ text: some StringProtocol, kind: Kind = .unspecified) {
        // Like the parser of a UUID.
        let read =
            text.utf8.withContiguousStorageIfAvailable { Self(characters: $0, kind: kind) }
            ?? Array(text.utf8).withUnsafeBufferPointer { Self(characters: $0, kind: kind) }
        guard let read else { return nil }
        self = read
    }

    private init?(characters: UnsafeBufferPointer<UInt8>, kind: Kind) {
        var bits: UInt64 = 0
        var position = 0
        for unit in characters {
            if position % 3 == 2 {
                guard unit == UInt8(ascii: ":") else { return nil }
            } else {
                guard let value = Hexadecimal.value(of: unit) else { return nil }
                bits = bits << 4 | UInt64(value)
            }
            position += 1
            guard position <= 17 else { return nil }
        }
        guard position == 17 else { return nil }
        self.init(bits: bits, kind: kind)
    }
}

extension DeviceAddress: CustomStringConvertible {
    /// Calls `body` with each of the 17 ASCII characters of the lower-case text form, in order.
    @inlinable
    public func forEachCharacter(_ body: (UInt8) -> Void) {
        for index in 0..<6 {
            if index > 0 { body(UInt8(ascii: ":")) }
            let byte = UInt8(truncatingIfNeeded: bits &>> UInt64(40 &- index &* 8))
            body(Hexadecimal.digit(byte &>> 4))
            body(Hexadecimal.digit(byte))
        }
    }

    /// `aa:bb:cc:dd:ee:ff` in lower case, without the kind.
    public var description: String {
        String(unsafeUninitializedCapacity: 17) { buffer in
            var count = 0
            forEachCharacter { character in
                buffer[count] = character
                count += 1
            }
            return count
        }
    }
}
