/// The key by which a phone or a watch is recognized, although it changes its address: an IRK (Core Specification,
/// Vol 3, Part H, 2.4.2.1).
///
/// Whoever has the key can follow its owner, so no text shows it.
package struct IdentityResolvingKey: Hashable, Sendable, BitwiseCopyable {
    /// The 16 bytes, in the order in which they were written.
    let bytes: AES128.Block

    /// Creates a key from its bytes.
    package init(high: UInt64, low: UInt64) { bytes = AES128.Block(high: high, low: low) }

    private init(_ bytes: AES128.Block) { self.bytes = bytes }

    /// The key with its bytes in the opposite order. Programs disagree about the order in which they show a key.
    package var reversed: IdentityResolvingKey { IdentityResolvingKey(bytes.reversed) }

    /// Reads 32 hexadecimal digits or the base64 form of 16 bytes, with or without the prefix `irk:`.
    ///
    /// - Returns: nil if the text is anything else.
    package init?(_ text: some StringProtocol) {
        var text = Substring(text)
        if text.lowercased().hasPrefix("irk:") { text = text.dropFirst(4) }
        let bytes = Self.hexadecimal(text) ?? Self.base64(text)
        guard let bytes, bytes.count == 16 else { return nil }
        func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: half(bytes[..<8]), low: half(bytes[8...]))
    }

    /// The 32 hexadecimal digits, only for the files of the user's own shared air.
    package var secretDigits: String {
        func half(_ word: UInt64) -> String {
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return half(bytes.high) + half(bytes.low)
    }

    private static func hexadecimal(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.compactMap(Hexadecimal.value)
        guard digits.count == 32, text.utf8.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// 16 bytes have 22 characters in base64, and two for padding.
    private static func base64(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count == 24, text.hasSuffix("==") else { return nil }
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for character in text.utf8.dropLast(2) {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}

extension IdentityResolvingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder, since logs must not show a key.
    package var description: String { "a hidden key" }

    /// A placeholder, since logs must not show a key.
    package var debugDescription: String { description }

    /// A mirror without the bytes.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The function by which a key's device makes its addresses, and by which others recognize them.
package struct AddressResolver: Sendable {
    private let cipher: AES128

    /// Creates the function of a key whose bytes are most significant first.
    package init(_ key: IdentityResolvingKey) { cipher = AES128(key: key.bytes) }

    /// Returns true if a device with this key made the address: if its lower half is the hash of its upper half
    /// (Core Specification, Vol 3, Part H, 2.2.2). One foreign address in 2²⁴ matches by chance.
    package func matches(_ address: DeviceAddress) -> Bool {
        hash(address.bits >> 24) == address.bits & 0xFF_FFFF
    }

    /// Returns an address of the key's device.
    ///
    /// - Parameter random: its upper half. The two highest bits are replaced by 01.
    package func address(random: UInt32) -> DeviceAddress {
        let random = UInt64(random) & 0x3F_FFFF | 0x40_0000
        return DeviceAddress(bits: random << 24 | hash(random), kind: .random)
    }

    private func hash(_ random: UInt64) -> UInt64 {
        cipher.encrypt(AES128.Block(high: 0, low: random)).low & 0xFF_FFFF
    }
}

extension DeviceAddress {
    /// True if the address may be resolvable: random or of a kind that the source did not say, with 01 in its highest
    /// bits.
    @inlinable package var isResolvable: Bool {
        let upper = word &>> 46
        return upper == UInt64(Kind.random.rawValue) &<< 2 | 1 || upper == UInt64(Kind.unspecified.rawValue) &<< 2 | 1
    }
}
