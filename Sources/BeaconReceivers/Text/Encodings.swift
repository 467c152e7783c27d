import BeaconModel
import BeaconSupport

/// The bytes of an advert that was transferred as text.
struct AdvertBytes {
    /// More than an advert and a scan response of Bluetooth 4 (31 each), or one packet of Bluetooth 5 (254).
    static let capacity = 256

    private var bytes = InlineArray<256, UInt8>(repeating: 0)
    private(set) var count = 0

    /// Calls a function with the bytes.
    @inline(__always)
    func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try body(bytes.span.extracting(0..<count).bytes)
    }

    /// The iBeacon's frame in the bytes; nil if they contain none.
    var frame: IBeaconFrame? { withBytes { IBeaconFrame(advert: $0) } }

    /// True if the bytes are AD structures of any device.
    var isAdvert: Bool {
        var offset = 0
        while offset < count, bytes[offset] > 0 {
            offset += Int(bytes[offset]) + 1
            // The length counts the bytes after it.
            guard offset <= count else { return false }
        }
        return offset > 0
    }

    /// Adds the bytes that hexadecimal digits encode.
    ///
    /// - Returns: false if the text is not hexadecimal, or too long.
    mutating func append(hexadecimal range: Range<Int>, of text: RawSpan) -> Bool {
        text.forEachByte(ofHexadecimal: range) { byte in
            guard count < Self.capacity else { return false }
            bytes[count] = byte
            count += 1
            return true
        }
    }

    /// Adds the bytes that base64 encodes (RFC 4648, 4), with or without padding.
    ///
    /// - Returns: false if the text is not base64, or too long.
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

    /// Adds the length and the type that turn manufacturer data into an AD structure.
    ///
    /// - Returns: false if the data are too long.
    mutating func makeManufacturerData() -> Bool {
        // With two more bytes, 253 fill an advert of Bluetooth 5.
        guard count <= 253 else { return false }
        for index in stride(from: count - 1, through: 0, by: -1) { bytes[index + 2] = bytes[index] }
        bytes[0] = UInt8(count + 1)
        // Core Specification Supplement, Part A, 1.4.
        bytes[1] = 0xFF
        count += 2
        return true
    }

    /// Removes bytes at the beginning.
    ///
    /// - Returns: false if there are fewer bytes.
    mutating func removeFirst(_ number: Int) -> Bool {
        guard count >= number else { return false }
        count -= number
        for index in 0..<count { bytes[index] = bytes[index + number] }
        return true
    }

    /// True for an iBeacon's manufacturer data without length and type. AD structures never begin like this: the first
    /// would have 76 bytes and a type that does not exist.
    var lacksHead: Bool {
        count >= IBeaconFrame.payloadCount && bytes[0] == 0x4C && bytes[1] == 0x00 && bytes[2] == 0x02
            && bytes[3] == 0x15
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
    /// Calls a function with each byte that hexadecimal digits encode: two digits a byte, optionally with spaces,
    /// colons, hyphens or commas between bytes, and optionally with `0x` before the first or each byte.
    ///
    /// - Returns: false if the text contains anything else, including half a byte, or if the function returned false.
    @inline(__always)
    func forEachByte(ofHexadecimal range: Range<Int>, _ body: (UInt8) -> Bool) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            let first = unsafeLoad(fromByteOffset: position, as: UInt8.self)
            guard let high = Hexadecimal.value(of: first) else {
                switch first {
                case UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: ","): position += 1
                default: return false
                }
                continue
            }
            guard position + 1 < range.upperBound else { return false }
            let second = unsafeLoad(fromByteOffset: position + 1, as: UInt8.self)
            position += 2
            guard let low = Hexadecimal.value(of: second) else {
                guard high == 0, second | 0x20 == UInt8(ascii: "x") else { return false }
                continue
            }
            guard body(high << 4 | low) else { return false }
        }
        return true
    }

    /// Returns the device address that hexadecimal digits encode; nil for other text.
    func address(_ range: Range<Int>, kind: DeviceAddress.Kind = .unspecified) -> DeviceAddress? {
        // Twelve digits, and at most three more characters for each byte.
        guard (12...30).contains(range.count) else { return nil }
        var bits: UInt64 = 0
        var count = 0
        let isRead = forEachByte(ofHexadecimal: range) { byte in
            bits = bits << 8 | UInt64(byte)
            count += 1
            return count <= 6
        }
        return isRead && count == 6 ? DeviceAddress(bits: bits, kind: kind) : nil
    }

    /// Returns the UUID that hexadecimal digits encode; nil for other text.
    func uuid(_ range: Range<Int>) -> ProximityUUID? {
        guard (32...80).contains(range.count) else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var count = 0
        let isRead = forEachByte(ofHexadecimal: range) { byte in
            halves = (halves.0 << 8 | halves.1 >> 56, halves.1 << 8 | UInt64(byte))
            count += 1
            return count <= 16
        }
        return isRead && count == 16 ? ProximityUUID(high: halves.0, low: halves.1) : nil
    }

    /// Returns the beginning of a text in printable form, on one line.
    func excerpt(_ range: Range<Int>) -> String {
        let end = min(range.upperBound, range.lowerBound + 60)
        return text(range.lowerBound..<end).printable + (end < range.upperBound ? "…" : "")
    }
}
