import BeaconModel

/// The bytes of an advert that travelled as text.
struct AdvertBytes {
    /// More than an advert and a scan response of Bluetooth 4 have (31 each), and one packet of Bluetooth 5 (254).
    static let capacity = 256

    private var bytes = InlineArray<256, UInt8>(repeating: 0)
    private(set) var count = 0

    /// Calls a function with the bytes.
    @inline(__always)
    func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try body(bytes.span.extracting(0..<count).bytes)
    }

    /// Adds the bytes that hexadecimal digits give.
    ///
    /// - Returns: false where they are something else, or too many.
    mutating func append(hexadecimal range: Range<Int>, of text: RawSpan) -> Bool {
        guard range.count % 2 == 0, count + range.count / 2 <= Self.capacity else { return false }
        var position = range.lowerBound
        while position < range.upperBound {
            guard let high = Hexadecimal.value(of: text.unsafeLoad(fromByteOffset: position, as: UInt8.self)),
                let low = Hexadecimal.value(of: text.unsafeLoad(fromByteOffset: position + 1, as: UInt8.self))
            else { return false }
            bytes[count] = high << 4 | low
            count += 1
            position += 2
        }
        return true
    }

    /// Adds the bytes that base64 gives (RFC 4648, 4), with or without padding.
    ///
    /// - Returns: false where it is something else, or too long.
    mutating func append(base64 range: Range<Int>, of text: RawSpan) -> Bool {
        var bits: UInt32 = 0
        var held = 0
        for position in range {
            let character = text.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            if character == UInt8(ascii: "=") { continue }
            // JSON may write / as \/.
            if character == UInt8(ascii: "\\") { continue }
            guard let value = Self.base64Value(of: character) else { return false }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            guard count < Self.capacity else { return false }
            bytes[count] = UInt8(truncatingIfNeeded: bits >> UInt32(held))
            count += 1
        }
        return true
    }

    /// Adds the structure of manufacturer data, of what is behind its length and type.
    mutating func append(manufacturerData range: Range<Int>, of text: RawSpan) -> Bool {
        guard range.count % 2 == 0, range.count / 2 < 255, count + 2 + range.count / 2 <= Self.capacity else {
            return false
        }
        bytes[count] = UInt8(range.count / 2 + 1)
        // Core Specification Supplement, Part A, 1.4.
        bytes[count + 1] = 0xFF
        count += 2
        return append(hexadecimal: range, of: text)
    }

    private static func base64Value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

extension RawSpan {
    /// Returns the device address of twelve hexadecimal digits, in pairs with `:` or `-` between them or without; nil
    /// where the bytes are something else.
    func address(_ range: Range<Int>, kind: DeviceAddress.Kind = .unspecified) -> DeviceAddress? {
        let isSeparated = range.count == 17
        guard isSeparated || range.count == 12 else { return nil }
        var bits: UInt64 = 0
        for index in 0..<range.count {
            let byte = unsafeLoad(fromByteOffset: range.lowerBound + index, as: UInt8.self)
            if isSeparated, index % 3 == 2 {
                guard byte == UInt8(ascii: ":") || byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = Hexadecimal.value(of: byte) else { return nil }
                bits = bits << 4 | UInt64(digit)
            }
        }
        return DeviceAddress(bits: bits, kind: kind)
    }

    /// Returns the UUID of 32 hexadecimal digits, with or without hyphens; nil where the bytes are something else.
    func uuid(_ range: Range<Int>) -> ProximityUUID? {
        guard range.count == 32 || range.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for position in range {
            let byte = unsafeLoad(fromByteOffset: position, as: UInt8.self)
            if byte == UInt8(ascii: "-") { continue }
            guard let digit = Hexadecimal.value(of: byte), digits < 32 else { return nil }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            digits += 1
        }
        return digits == 32 ? ProximityUUID(high: halves.0, low: halves.1) : nil
    }
}
