/// A scanner of JSON text (RFC 8259) that reports the place of a fault. It reads numbers and strings, and skips values.
///
/// Its callers read the structure, because each has its own messages for a missing part. They pass the same text to
/// every call.
@usableFromInline
package struct JSONScanner {
    /// A fault in a text, and its place in bytes.
    package struct Fault: Error, Hashable {
        package enum Kind: Hashable, Sendable {
            /// This character or word is missing.
            case missing(String)
            case missingNumber
            case unclosedString
            /// A string contains a control character.
            case controlCharacter
            case notUTF8
            /// A backslash is followed by a character that JSON does not escape.
            case unknownEscape
            /// `\u` is not followed by four hexadecimal digits.
            case missingDigits
            /// An escape is one half of a surrogate pair without the other.
            case loneSurrogate
            /// Values are nested deeper than ``JSONScanner/deepest``.
            case tooDeep
            /// A caller does not accept a value, for this reason.
            case refused(String)
        }

        package var kind: Kind
        package var offset: Int

        /// Creates a fault from its parts.
        package init(kind: Kind, offset: Int) {
            self.kind = kind
            self.offset = offset
        }
    }

    /// The maximum nesting of values. Deeper values could exhaust the stack.
    package static let deepest = 32

    /// The position of the next byte.
    @usableFromInline package var position = 0

    /// The position of the last backslash.
    package private(set) var escapeStart = 0

    private let isStrict: Bool

    /// Creates a scanner at the beginning of a text.
    ///
    /// - Parameter isStrict: false to repair strings that are not UTF-8 or have half a surrogate pair, and to accept
    ///   control characters in strings.
    package init(isStrict: Bool) { self.isStrict = isStrict }

    /// Returns the next byte; nil at the end.
    @inlinable
    package func peek(_ text: RawSpan) -> UInt8? {
        position < text.byteCount ? text.unsafeLoad(fromByteOffset: position, as: UInt8.self) : nil
    }

    /// Moves past white space.
    @inlinable
    package mutating func skipBlanks(_ text: RawSpan) {
        while let byte = peek(text), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Moves past a word.
    package mutating func expect(_ word: StaticString, _ text: RawSpan) throws(Fault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek(text) == word.utf8Start[index] else { throw fault(.missing("\(word)")) }
            position += 1
        }
    }

    /// Moves past a comma or the end of an object or array.
    ///
    /// - Returns: true for a comma, which must be followed by another member.
    package mutating func continues(until end: StaticString, _ text: RawSpan) throws(Fault) -> Bool {
        if peek(text) == UInt8(ascii: ",") {
            position += 1
            return true
        }
        try expect(end, text)
        return false
    }

    // MARK: - Values

    /// Returns the characters of a number, and moves past them. The caller checks whether they form a number.
    package mutating func number(_ text: RawSpan) throws(Fault) -> String {
        let start = position
        while let byte = peek(text), Self.isOfNumber(byte) { position += 1 }
        guard position > start else { throw fault(.missingNumber) }
        return Self.string(start..<position, text)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// Returns a string, and moves past it.
    package mutating func string(_ text: RawSpan) throws(Fault) -> String {
        try expect("\"", text)
        let start = position
        try skipPlain(text)
        guard peek(text) == UInt8(ascii: "\"") else { return try escapedString(from: start, text) }
        position += 1
        return try checked(start..<position - 1, text)
    }

    /// Moves to the next quote or backslash.
    @inline(__always)
    private mutating func skipPlain(_ text: RawSpan) throws(Fault) {
        while let byte = peek(text), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            if byte < 0x20, isStrict { throw fault(.controlCharacter) }
            position += 1
        }
        if position == text.byteCount { throw fault(.unclosedString) }
    }

    /// Continues with a string at its first escape.
    private mutating func escapedString(from start: Int, _ text: RawSpan) throws(Fault) -> String {
        // UTF-16: the two halves of an escaped pair are two units.
        var units: [UInt16] = []
        var isValid = true
        var start = start
        while true {
            let plain = start..<position
            isValid = isValid && (!isStrict || Self.isUTF8(plain, text))
            units.append(contentsOf: Self.string(plain, text).utf16)
            if peek(text) == UInt8(ascii: "\"") { break }
            try readEscape(into: &units, text)
            start = position
            try skipPlain(text)
        }
        position += 1
        guard isValid else { throw fault(.notUTF8) }
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func readEscape(into units: inout [UInt16], _ text: RawSpan) throws(Fault) {
        let unit = try readEscapedUnit(text)
        units.append(unit)
        guard isStrict, UTF16.isSurrogate(unit) else { return }
        guard UTF16.isLeadSurrogate(unit), peek(text) == UInt8(ascii: "\\"), isFollowed(by: UInt8(ascii: "u"), text)
        else {
            throw fault(.loneSurrogate)
        }
        let trail = try readEscapedUnit(text)
        guard UTF16.isTrailSurrogate(trail) else { throw fault(.loneSurrogate) }
        units.append(trail)
    }

    private func isFollowed(by byte: UInt8, _ text: RawSpan) -> Bool {
        position + 1 < text.byteCount && text.unsafeLoad(fromByteOffset: position + 1, as: UInt8.self) == byte
    }

    private mutating func readEscapedUnit(_ text: RawSpan) throws(Fault) -> UInt16 {
        escapeStart = position
        position += 1
        guard let character = peek(text) else { throw fault(isStrict ? .unknownEscape : .unclosedString) }
        position += 1
        switch character {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(character)
        case UInt8(ascii: "u"):
            var unit: UInt16 = 0
            for _ in 0..<4 {
                guard let digit = peek(text), let value = Hexadecimal.value(of: digit) else {
                    throw fault(.missingDigits)
                }
                unit = unit << 4 | UInt16(value)
                position += 1
            }
            return unit
        default:
            throw Fault(kind: .unknownEscape, offset: position - 1)
        }
    }

    private func checked(_ range: Range<Int>, _ text: RawSpan) throws(Fault) -> String {
        guard !isStrict || Self.isUTF8(range, text) else { throw fault(.notUTF8) }
        return Self.string(range, text)
    }

    private static func isUTF8(_ range: Range<Int>, _ text: RawSpan) -> Bool {
        text.extracting(range).withUnsafeBytes { String(validating: $0, as: UTF8.self) != nil }
    }

    /// Returns bytes as text, with replacement characters for bytes that are not UTF-8.
    private static func string(_ range: Range<Int>, _ text: RawSpan) -> String {
        text.extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Skipping

    /// Moves past a value of any kind.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - depth: the nesting depth of the value.
    package mutating func skipValue(_ text: RawSpan, depth: Int = 0) throws(Fault) {
        guard depth < Self.deepest else { throw fault(.tooDeep) }
        switch peek(text) {
        case UInt8(ascii: "\""): _ = try string(text)
        case UInt8(ascii: "{"): try skipContainer(until: "}", text, depth: depth)
        case UInt8(ascii: "["): try skipContainer(until: "]", text, depth: depth)
        case UInt8(ascii: "t"): try expect("true", text)
        case UInt8(ascii: "f"): try expect("false", text)
        case UInt8(ascii: "n"): try expect("null", text)
        default: _ = try number(text)
        }
    }

    private mutating func skipContainer(until end: StaticString, _ text: RawSpan, depth: Int) throws(Fault) {
        let isObject = peek(text) == UInt8(ascii: "{")
        position += 1
        skipBlanks(text)
        if peek(text) == end.utf8Start.pointee {
            position += 1
            return
        }
        repeat {
            skipBlanks(text)
            if isObject {
                _ = try string(text)
                skipBlanks(text)
                try expect(":", text)
                skipBlanks(text)
            }
            try skipValue(text, depth: depth + 1)
            skipBlanks(text)
        } while try continues(until: end, text)
    }

    private func fault(_ kind: Fault.Kind) -> Fault { Fault(kind: kind, offset: position) }
}
