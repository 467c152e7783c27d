import BeaconModel

/// The bytes of a string literal of Python, C, Swift or a shell, escaped or not: `b'\x02\x15m'`.
struct StringLiteral {
    /// The bytes.
    private(set) var bytes: [UInt8] = []

    /// The characters of a literal of bytes without any escape, which are digits themselves: `b'0215'`.
    private(set) var text: String?

    /// The number before the literal, as in bleak's `{76: b'…'}`: the company.
    private(set) var company: UInt16?

    /// Reads a literal.
    ///
    /// - Returns: nil for a text without a literal.
    init?(_ source: String) {
        let characters = Array(source.utf8)
        let isEscaped = characters.contains(UInt8(ascii: "\\"))
        let opening = Self.opening(in: characters)
        guard isEscaped || opening != nil else { return nil }
        // A shell takes the quotes away.
        let backslash = characters.firstIndex(of: UInt8(ascii: "\\")) ?? 0
        let isMarked = backslash > 0 && characters[backslash - 1] == UInt8(ascii: "b")
        let (start, begin) = opening ?? (backslash - (isMarked ? 1 : 0), backslash)
        company = Self.number(before: start, in: characters)
        let quote = opening.map { characters[$0.content - 1] }
        var position = begin
        var end = characters.count
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == quote {
                end = position - 1
                // Literals that stand side by side are one.
                guard let next = characters[position...].firstIndex(where: { $0 > 0x20 }),
                    characters[next] == character
                else { break }
                position = next + 1
            } else if character == UInt8(ascii: "\\") {
                bytes.append(Self.escaped(in: characters, &position))
            } else if quote != nil || character > 0x20 {
                bytes.append(character)
            }
        }
        if !isEscaped { text = String(decoding: characters[begin..<end], as: UTF8.self) }
    }

    /// Returns where a literal of bytes begins, `b'` or `b"`, or a quote before an escape, and its content behind it.
    private static func opening(in characters: [UInt8]) -> (start: Int, content: Int)? {
        let quotes = [UInt8(ascii: "'"), UInt8(ascii: "\"")]
        for index in characters.indices where quotes.contains(characters[index]) {
            if index > 0, characters[index - 1] == UInt8(ascii: "b"),
                index == 1 || Hexadecimal.value(of: characters[index - 2]) == nil
            {
                return (index - 1, index + 1)
            }
            if index + 1 < characters.count, characters[index + 1] == UInt8(ascii: "\\") { return (index, index + 1) }
        }
        return nil
    }

    /// Returns the number that stands before a colon right before `end`.
    private static func number(before end: Int, in characters: [UInt8]) -> UInt16? {
        var rest = characters[..<end]
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        guard rest.popLast() == UInt8(ascii: ":") else { return nil }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        let digits = rest.reversed().prefix { Hexadecimal.value(of: $0) != nil || $0 == UInt8(ascii: "x") }.reversed()
        let word = String(decoding: Array(digits), as: UTF8.self)
        return word.hasPrefix("0x") ? UInt16(word.dropFirst(2), radix: 16) : UInt16(word)
    }

    /// Reads the escape whose backslash is before `position`.
    private static func escaped(in characters: [UInt8], _ position: inout Int) -> UInt8 {
        guard position < characters.count else { return UInt8(ascii: "\\") }
        let kind = characters[position]
        position += 1
        switch kind {
        case UInt8(ascii: "x"):
            return number(of: 2, radix: 16, in: characters, &position)
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            position -= 1
            return number(of: 3, radix: 8, in: characters, &position)
        case UInt8(ascii: "a"): return 0x07
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "v"): return 0x0B
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "r"): return 0x0D
        default: return kind
        }
    }

    /// Reads a number of at most so many digits.
    private static func number(of digits: Int, radix: UInt8, in characters: [UInt8], _ position: inout Int) -> UInt8 {
        var number: UInt8 = 0
        var count = 0
        while count < digits, position < characters.count, let value = Hexadecimal.value(of: characters[position]),
            value < radix
        {
            number = number &* radix &+ value
            position += 1
            count += 1
        }
        return number
    }
}
