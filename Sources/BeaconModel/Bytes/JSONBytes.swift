/// Writing of JSON into bytes without an intermediate `String`, which `scan --json` needs for a million lines a second.
extension [UInt8] {
    /// Appends JSON text unchanged.
    @inlinable
    public mutating func append(json text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends several bytes at once, which checks uniqueness and capacity of the array only once.
    @inlinable @inline(__always)
    mutating func append<let capacity: Int>(
        _ bytes: InlineArray<capacity, UInt8>, from start: Int = 0
    ) {
        bytes.span.extracting(start..<capacity).withUnsafeBufferPointer { append(contentsOf: $0) }
    }

    /// Appends a whole number.
    @inlinable
    public mutating func append(decimal value: Int) {
        // The digits of the largest number, and a sign.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var place = 20
        var rest = value.magnitude
        repeat {
            place &-= 1
            digits[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 {
            place &-= 1
            digits[place] = UInt8(ascii: "-")
        }
        append(digits, from: place)
    }

    /// Appends the text form of a UUID.
    @inlinable
    public mutating func append(text uuid: ProximityUUID) {
        var characters = InlineArray<36, UInt8>(repeating: 0)
        var place = 0
        uuid.forEachCharacter {
            characters[place] = $0
            place &+= 1
        }
        append(characters)
    }

    /// Appends the text form of an address.
    @inlinable
    public mutating func append(text address: DeviceAddress) {
        var characters = InlineArray<17, UInt8>(repeating: 0)
        var place = 0
        address.forEachCharacter {
            characters[place] = $0
            place &+= 1
        }
        append(characters)
    }

    /// Appends a number with a count of decimals, up to 6, rounded to the nearest. Numbers that are too large are
    /// clamped, and NaN becomes `null`.
    public mutating func append(fixed value: Double, decimals: Int) {
        guard !value.isNaN else { return append(json: "null") }
        var scale = 1
        for _ in 0..<Swift.min(decimals, 6) { scale *= 10 }
        let scaled = Int(Swift.min(Swift.max((value * Double(scale)).rounded(), -1e15), 1e15))
        if scaled < 0 { append(UInt8(ascii: "-")) }
        let magnitude = Int(scaled.magnitude)
        append(decimal: magnitude / scale)
        guard scale > 1 else { return }
        append(UInt8(ascii: "."))
        var divisor = scale / 10
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends seconds with three decimals, rounded to the nearest millisecond; nil becomes `null`.
    public mutating func append(jsonTime time: Timestamp?) {
        guard let time else { return append(json: "null") }
        let milliseconds = Int((time.nanoseconds + 500_000) / 1_000_000)
        append(decimal: milliseconds / 1000)
        let fraction = milliseconds % 1000
        let zero = UInt8(ascii: "0")
        append(
            [
                UInt8(ascii: "."), zero + UInt8(fraction / 100), zero + UInt8(fraction / 10 % 10),
                zero + UInt8(fraction % 10),
            ] as InlineArray<4, UInt8>)
    }

    /// Appends the key of a member, after a comma unless it is the first member of its object.
    package mutating func append(key: StaticString) {
        append(json: last == UInt8(ascii: "{") ? "\"" : ",\"")
        append(json: key)
        append(json: "\":")
    }

    /// Appends a member with a text; nil becomes `null`.
    package mutating func append(_ key: StaticString, _ text: String?) {
        append(key: key)
        if let text { append(jsonText: text) } else { append(json: "null") }
    }

    /// Appends a member with a whole number; nil becomes `null`.
    package mutating func append(_ key: StaticString, _ number: Int?) {
        append(key: key)
        if let number { append(decimal: number) } else { append(json: "null") }
    }

    /// Appends a member with a number of fixed decimals; nil becomes `null`.
    package mutating func append(_ key: StaticString, _ number: Double?, decimals: Int) {
        append(key: key)
        append(fixed: number ?? .nan, decimals: decimals)
    }

    /// Appends a text with quotes and escapes. Characters that control a terminal or change the writing direction
    /// (Unicode Standard Annex 9, 2) are escaped, too: names come from strangers, and people read these lines.
    public mutating func append(jsonText text: String) {
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C:
                append(UInt8(ascii: "\\"))
                append(UInt8(scalar.value))
            case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
                append(json: "\\u")
                for shift in [12, 8, 4, 0] { append(Hexadecimal.digit(UInt8(scalar.value >> shift & 0xF))) }
            default: for unit in scalar.utf8 { append(unit) }
            }
        }
        append(UInt8(ascii: "\""))
    }
}
