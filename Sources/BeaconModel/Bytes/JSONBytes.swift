/// Writing JSON into bytes without a `String` between, which is what keeps `scan --json` at a million lines a second.
extension [UInt8] {
    /// Appends JSON as it stands.
    @inlinable
    public mutating func append(json text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a whole number.
    @inlinable
    public mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let magnitude = value.magnitude
        var divisor: UInt = 1
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends the text form of a UUID.
    @inlinable
    public mutating func append(text uuid: ProximityUUID) {
        uuid.forEachCharacter { append($0) }
    }

    /// Appends the text form of an address.
    @inlinable
    public mutating func append(text address: DeviceAddress) {
        address.forEachCharacter { append($0) }
    }

    /// Appends a number with so many decimals, up to 6, rounded to the nearest; what is too large for that is cut, and
    /// what is no number becomes `null`.
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
        append(UInt8(ascii: "."))
        append(UInt8(ascii: "0") + UInt8(fraction / 100))
        append(UInt8(ascii: "0") + UInt8(fraction / 10 % 10))
        append(UInt8(ascii: "0") + UInt8(fraction % 10))
    }

    /// Appends a text with quotes and escapes.
    public mutating func append(jsonText text: String) {
        append(UInt8(ascii: "\""))
        for unit in text.utf8 {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(unit)
            case 0..<0x20:
                append(json: "\\u00")
                append(Hexadecimal.digit(unit >> 4))
                append(Hexadecimal.digit(unit))
            default:
                append(unit)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
