import BeaconModel

/// A value in a JSON text (RFC 8259): its kind and its range.
///
/// Values that are not needed are skipped without a check: a gateway's message has a dozen members, of which four
/// matter, and a general decoder costs some hundred times as much as the advert itself.
struct JSONToken {
    enum Kind {
        case object, array, string, number, literal
    }

    var kind: Kind
    /// The range of the value; for a string, without its quotes.
    var range: Range<Int>
    /// True for a string that contains an escape.
    var isEscaped = false
}

/// JSON that is parsed in place. Malformed text gives no value and never traps.
extension RawSpan {
    /// The whole text as an object or an array; nil if it is neither. Its end is only checked while it is read, so that
    /// it is not read twice.
    var json: JSONToken? {
        var position = 0
        skipBlanks(&position)
        guard position < byteCount else { return nil }
        switch jsonByte(position) {
        case UInt8(ascii: "{"): return JSONToken(kind: .object, range: position..<byteCount)
        case UInt8(ascii: "["): return JSONToken(kind: .array, range: position..<byteCount)
        default: return nil
        }
    }

    /// Calls a function with each member of an object.
    ///
    /// - Parameters:
    ///   - object: an object.
    ///   - body: receives key and value, and returns false to skip the rest.
    /// - Returns: false if the object is malformed.
    @discardableResult @inline(__always)
    func forEachMember(of object: JSONToken, _ body: (JSONToken, JSONToken) -> Bool) -> Bool {
        guard object.kind == .object else { return false }
        var position = object.range.lowerBound + 1
        while true {
            skipBlanks(&position)
            guard position < object.range.upperBound else { return false }
            if jsonByte(position) == UInt8(ascii: "}") { return true }
            guard let key = jsonValue(at: &position), key.kind == .string else { return false }
            skipBlanks(&position)
            guard position < object.range.upperBound, jsonByte(position) == UInt8(ascii: ":") else { return false }
            position += 1
            guard let value = jsonValue(at: &position) else { return false }
            guard body(key, value) else { return true }
            skipBlanks(&position)
            guard position < object.range.upperBound else { return false }
            if jsonByte(position) == UInt8(ascii: ",") { position += 1 }
        }
    }

    /// Calls a function with each element of an array that is not an array, and with those of arrays in it, down to a
    /// depth. The function returns false to skip the rest of an array.
    @discardableResult
    func forEachLeaf(of array: JSONToken, depth: Int = 4, _ body: (JSONToken) -> Bool) -> Bool {
        forEachElement(of: array) { element in
            guard element.kind == .array, depth > 1 else { return body(element) }
            return forEachLeaf(of: element, depth: depth - 1, body)
        }
    }

    /// Calls a function with each element of an array.
    ///
    /// - Parameters:
    ///   - array: an array.
    ///   - body: receives the element, and returns false to skip the rest.
    /// - Returns: false if the array is malformed.
    @discardableResult @inline(__always)
    func forEachElement(of array: JSONToken, _ body: (JSONToken) throws -> Bool) rethrows -> Bool {
        guard array.kind == .array else { return false }
        var position = array.range.lowerBound + 1
        while true {
            skipBlanks(&position)
            guard position < array.range.upperBound else { return false }
            if jsonByte(position) == UInt8(ascii: "]") { return true }
            guard let value = jsonValue(at: &position) else { return false }
            guard try body(value) else { return true }
            skipBlanks(&position)
            guard position < array.range.upperBound else { return false }
            if jsonByte(position) == UInt8(ascii: ",") { position += 1 }
        }
    }

    /// Returns the value of a key in an object; nil if the object does not have the key.
    func member(_ key: StaticString, of object: JSONToken) -> JSONToken? {
        var found: JSONToken?
        forEachMember(of: object) { name, value in
            guard equals(name, key) else { return true }
            found = value
            return false
        }
        return found
    }

    /// Returns true if a string has this text. A string with escapes equals no text.
    @inline(__always)
    func equals(_ value: JSONToken, _ text: StaticString) -> Bool {
        value.kind == .string && !value.isEscaped && equals(value.range, text)
    }

    /// Returns true if these bytes equal the text.
    @inline(__always)
    func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount, range.upperBound <= byteCount else { return false }
        for index in 0..<range.count where jsonByte(range.lowerBound + index) != text.utf8Start[index] { return false }
        return true
    }

    // MARK: - Values

    /// Returns true for null.
    @inline(__always)
    func isNull(_ value: JSONToken) -> Bool { value.kind == .literal && equals(value.range, "null") }

    /// Returns the name of a receiver, a text or a number; nil for another value, or a name that is too long.
    func name(_ value: JSONToken) -> String? {
        guard value.kind == .number else { return string(value, limit: ReceiverNetwork.longestName) }
        return value.range.count <= ReceiverNetwork.longestName ? text(value.range) : nil
    }

    /// Returns a number, or the number in a string; nil if it is neither.
    func number(_ value: JSONToken) -> Double? {
        guard value.kind == .number || value.kind == .string, value.range.count <= 32 else { return nil }
        let number = Double(text(value.range))
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns an integer, or the integer in a string, and rounds fractions. Returns nil if it is not a number, or too
    /// large.
    @inline(__always)
    func integer(_ value: JSONToken) -> Int? {
        guard value.kind == .number || value.kind == .string else { return nil }
        var position = value.range.lowerBound
        let end = value.range.upperBound
        var isNegative = false
        if position < end, jsonByte(position) == UInt8(ascii: "-") {
            isNegative = true
            position += 1
        }
        var magnitude = 0
        let first = position
        while position < end {
            let digit = Int(jsonByte(position)) - 0x30
            guard (0...9).contains(digit) else { break }
            // Milliseconds since 1970 have 13 digits, microseconds 16.
            guard position - first < 18 else { return nil }
            magnitude = magnitude * 10 + digit
            position += 1
        }
        guard position > first else { return nil }
        if position == end { return isNegative ? -magnitude : magnitude }
        return rounded(value)
    }

    private func rounded(_ value: JSONToken) -> Int? {
        guard value.range.count <= 32, let number = Double(text(value.range)) else { return nil }
        return Int(exactly: number.rounded())
    }

    /// Returns a string's text; nil if it is not a string, or too long to be a name.
    func string(_ value: JSONToken, limit: Int = 256) -> String? {
        guard value.kind == .string, value.range.count <= limit else { return nil }
        return value.isEscaped ? unescaped(value.range) : text(value.range)
    }

    /// Returns bytes as text, with replacement characters for invalid UTF-8.
    func text(_ range: Range<Int>) -> String {
        extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func unescaped(_ range: Range<Int>) -> String? {
        var scanner = JSONScanner(isStrict: false)
        // Start at the opening quote.
        scanner.position = range.lowerBound - 1
        return try? scanner.string(self)
    }

    // MARK: - Reading

    /// Returns the value at a position, and advances the position behind it; nil if there is no valid value.
    @inline(__always)
    func jsonValue(at position: inout Int) -> JSONToken? {
        skipBlanks(&position)
        guard position < byteCount else { return nil }
        let start = position
        switch jsonByte(position) {
        case UInt8(ascii: "\""):
            guard let isEscaped = skipString(&position) else { return nil }
            return JSONToken(kind: .string, range: start + 1..<position - 1, isEscaped: isEscaped)
        case UInt8(ascii: "{"):
            guard skipContainer(&position) else { return nil }
            return JSONToken(kind: .object, range: start..<position)
        case UInt8(ascii: "["):
            guard skipContainer(&position) else { return nil }
            return JSONToken(kind: .array, range: start..<position)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            skipWord(&position)
            return JSONToken(kind: .number, range: start..<position)
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            skipWord(&position)
            return JSONToken(kind: .literal, range: start..<position)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "."):
            // Not JSON, as NaN of Python's encoder. It does not make the rest of the text unreadable.
            skipWord(&position)
            return JSONToken(kind: .literal, range: start..<position)
        default:
            return nil
        }
    }

    @inline(__always)
    private func jsonByte(_ position: Int) -> UInt8 { unsafeLoad(fromByteOffset: position, as: UInt8.self) }

    @inline(__always)
    private func skipBlanks(_ position: inout Int) {
        while position < byteCount {
            let byte = jsonByte(position)
            guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return }
            position += 1
        }
    }

    /// Advances the position behind a number or a literal.
    @inline(__always)
    private func skipWord(_ position: inout Int) {
        while position < byteCount {
            switch jsonByte(position) {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
                UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                position += 1
            default: return
            }
        }
    }

    /// Advances the position behind a string.
    ///
    /// - Returns: true if the string contains an escape; nil if it does not end.
    @inline(__always)
    private func skipString(_ position: inout Int) -> Bool? {
        var isEscaped = false
        position += 1
        while position < byteCount {
            skipPlain(&position)
            guard position < byteCount else { return nil }
            switch jsonByte(position) {
            case UInt8(ascii: "\""):
                position += 1
                return isEscaped
            case UInt8(ascii: "\\"):
                isEscaped = true
                position += 2
            default: position += 1
            }
        }
        return nil
    }

    /// Skips words of eight bytes without a quotation mark or a backslash, then advances to the first of these in the
    /// next word.
    @inline(__always)
    private func skipPlain(_ position: inout Int) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        while position &+ 8 <= byteCount {
            let word = UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quotes = word ^ 0x22 &* ones
            let slashes = word ^ 0x5C &* ones
            // The lowest byte that is zero in either one has its highest bit set here.
            let found = ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes) & (0x80 &* ones)
            guard found == 0 else {
                position &+= found.trailingZeroBitCount / 8
                return
            }
            position &+= 8
        }
    }

    /// Advances the position behind an object or an array of any depth.
    ///
    /// - Returns: false if it does not end.
    private func skipContainer(_ position: inout Int) -> Bool {
        var depth = 0
        while position < byteCount {
            switch jsonByte(position) {
            case UInt8(ascii: "\""):
                guard skipString(&position) != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 {
                    position += 1
                    return true
                }
            default: break
            }
            position += 1
        }
        return false
    }
}
