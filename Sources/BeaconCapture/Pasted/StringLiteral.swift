import BeaconModel

/// The bytes of a string literal of Python, C, Swift or a shell, escaped or not: `b'\x02\x15m'`.
struct StringLiteral {
    /// The bytes.
    private(set) var bytes: [UInt8] = []

    /// The characters of a byte literal without any escape, which are digits themselves: `b'0215'`.
    private(set) var text: String?

    /// The company: the number before the literal, as in bleak's `{76: b'…'}` and its `{'76': b'…'}`.
    private(set) var company: UInt16?

    /// Reads a literal.
    ///
    /// - Returns: nil for a text without a literal.
    /// - Throws: ``PastedAdvertError`` for an unknown company, and for an escape without all its digits.
    init?(_ source: String) throws(PastedAdvertError) {
        let characters = Array(source.utf8)
        let isEscaped = characters.contains(UInt8(ascii: "\\"))
        let opening = Self.opening(in: characters)
        guard isEscaped || opening != nil else { return nil }
        // A shell removes the quotes.
        let backslash = characters.firstIndex(of: UInt8(ascii: "\\")) ?? 0
        let isMarked = backslash > 0 && characters[backslash - 1] == UInt8(ascii: "b")
        let (start, begin) = opening ?? (backslash - (isMarked ? 1 : 0), backslash)
        company = try Self.company(before: characters[..<start])
        let quote = opening.map { characters[$0.content - 1] }
        var position = begin
        var widths = EscapeWidths()
        var end = characters.count
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == quote {
                end = position - 1
                // Adjacent literals are one.
                guard let next = characters[position...].firstIndex(where: { $0 > 0x20 }),
                    characters[next] == character
                else { break }
                position = next + 1
            } else if character == UInt8(ascii: "\\") {
                bytes.append(Self.escaped(in: characters, &position, &widths))
            } else if quote != nil || character > 0x20 {
                bytes.append(character)
            }
        }
        if widths.areMixed {
            throw PastedAdvertError(
                .missingDigit,
                "an escape has fewer digits than the others, so a digit is missing; copy the advert again")
        }
        if !isEscaped { text = String(decoding: characters[begin..<end], as: UTF8.self) }
    }

    /// Returns the start of a byte literal, `b'` or `b"`, or of a quote before an escape, and the start of its content.
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

    /// Returns the company before a literal: the number in `76: b'…'`, `'0x4c' => "…"` and `(76, b'…')`.
    private static func company(before text: ArraySlice<UInt8>) throws(PastedAdvertError) -> UInt16? {
        let separators = text.reversed().prefix { " \t:,'\"=>()[]{".utf8.contains($0) }
        let isWord = { (character: UInt8) in
            Hexadecimal.value(of: character) != nil
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character | 0x20)
                || "_-.".utf8.contains(character) || character >= 0x80
        }
        let characters = text.dropLast(separators.count).reversed().prefix(while: isWord).reversed()
        let word = String(decoding: Array(characters), as: UTF8.self)
        let isNumbered = word.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let isKey = separators.contains(UInt8(ascii: ":")) || separators.contains(UInt8(ascii: ">"))
        // Without a colon, a word is a function or a variable.
        guard !word.isEmpty, isNumbered || isKey else { return nil }
        if let number = PastedCompany.number(word) { return number }
        let names = ["data", "value", "payload", "advert", "bytes", "raw", "record", "packet"]
        guard isKey, !names.contains(where: { word.lowercased().contains($0) }) else { return nil }
        throw PastedCompany.unknown(word)
    }

    /// Reads the escape whose backslash is before `position`.
    private static func escaped(
        in characters: [UInt8], _ position: inout Int, _ widths: inout EscapeWidths
    ) -> UInt8 {
        guard position < characters.count else { return UInt8(ascii: "\\") }
        let kind = characters[position]
        position += 1
        switch kind {
        case UInt8(ascii: "x"):
            let start = position
            let number = number(of: 2, radix: 16, in: characters, &position)
            widths.count(position - start, of: 2, number, least: 0x10)
            return number
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            position -= 1
            let start = position
            let number = number(of: 3, radix: 8, in: characters, &position)
            widths.count(position - start, of: 3, number, least: 0o100)
            return number
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

    /// Reads a number of at most `digits` digits.
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

/// The numbers of digits in escapes. If a literal pads small numbers with zeros, each number has all its digits.
private struct EscapeWidths {
    private var padded: Set<Int> = []
    private var short: Set<Int> = []

    /// True if a number has fewer digits although others of its kind are padded.
    var areMixed: Bool { !padded.isDisjoint(with: short) }

    /// Counts an escape.
    ///
    /// - Parameters:
    ///   - digits: its number of digits.
    ///   - all: the number of digits of a padded escape.
    ///   - number: its value.
    ///   - least: the smallest value that needs all digits.
    mutating func count(_ digits: Int, of all: Int, _ number: UInt8, least: UInt8) {
        if digits < all { short.insert(all) } else if number < least { padded.insert(all) }
    }
}
