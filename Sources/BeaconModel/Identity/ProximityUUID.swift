/// The 128-bit identifier that all beacons of one owner or use share: the proximity UUID.
///
/// It consists of two integers, so that comparing and hashing need neither Foundation nor heap memory.
@frozen
public struct ProximityUUID: Hashable, Sendable, BitwiseCopyable {
    /// The first eight bytes on the air, most significant first.
    public let high: UInt64

    /// The last eight bytes on the air, most significant first.
    public let low: UInt64

    /// Creates a UUID from its two halves.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads a UUID from text: 32 hexadecimal digits in either case, in the usual 8-4-4-4-12 groups or without hyphens.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(_ text: some StringProtocol) {
        // Generic text would be read through its witness tables, one character at a time, at ten times the cost.
        let read =
            text.utf8.withContiguousStorageIfAvailable { Self(characters: $0) }
            ?? Array(text.utf8).withUnsafeBufferPointer { Self(characters: $0) }
        guard let read else { return nil }
        self = read
    }

    private init?(characters: UnsafeBufferPointer<UInt8>) {
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var position = 0
        var hyphens = 0
        for unit in characters {
            if unit == UInt8(ascii: "-"), position == 8 || position == 13 || position == 18 || position == 23 {
                hyphens += 1
            } else if let value = Hexadecimal.value(of: unit), digits < 32 {
                if digits < 16 {
                    halves.0 = halves.0 << 4 | UInt64(value)
                } else {
                    halves.1 = halves.1 << 4 | UInt64(value)
                }
                digits += 1
            } else {
                return nil
            }
            position += 1
        }
        guard digits == 32, hyphens == 0 || hyphens == 4 else { return nil }
        self.init(high: halves.0, low: halves.1)
    }
}

extension ProximityUUID: CustomStringConvertible {
    /// Calls `body` with each of the 36 ASCII characters of the lower-case text form, in order.
    @inlinable
    public func forEachCharacter(_ body: (UInt8) -> Void) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { body(UInt8(ascii: "-")) }
            let half = index < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: half &>> UInt64(56 &- (index & 7) &* 8))
            body(Hexadecimal.digit(byte &>> 4))
            body(Hexadecimal.digit(byte))
        }
    }

    /// The lower-case text form, as in the project's JSON.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var count = 0
            forEachCharacter { character in
                buffer[count] = character
                count += 1
            }
            return count
        }
    }
}

extension ProximityUUID: Comparable {
    /// Orders UUIDs by their bytes.
    @inlinable
    public static func < (left: ProximityUUID, right: ProximityUUID) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension ProximityUUID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let uuid = ProximityUUID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is not a UUID")
        }
        self = uuid
    }

    /// Writes the lower-case text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
