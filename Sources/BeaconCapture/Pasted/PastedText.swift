import BeaconModel

/// The bytes that a text stands for, in the notations of the tools and languages that print bytes: hexadecimal digits
/// in any grouping, dumps with offsets and characters, lists of numbers, and string literals with escapes.
struct PastedText {
    /// The bytes.
    private(set) var bytes: [UInt8] = []

    /// The bytes if the text lost a leading zero, as numbers do; nil where the digits make whole bytes.
    private(set) var withLeadingZero: [UInt8]?

    /// The company that the text names apart from the bytes, as bluetoothctl and bleak do.
    private(set) var company: UInt16?

    /// Reads a text.
    ///
    /// - Throws: ``PastedAdvertError`` with the part that is no byte.
    init(_ text: String) throws(PastedAdvertError) {
        if let literal = StringLiteral(text) {
            company = literal.company
            if let digits = literal.text {
                try readDigits(digits)
            } else {
                bytes = literal.bytes
            }
        } else if let numbers = Self.decimalNumbers(in: text) {
            bytes = numbers
        } else {
            try readDigits(text)
        }
        guard !bytes.isEmpty || withLeadingZero != nil else {
            throw PastedAdvertError(.noBytes, "there are no bytes to decode")
        }
    }

    // MARK: - Numbers

    /// Returns the bytes of a list of decimal numbers, signed or not, as arrays are printed; nil for anything else.
    ///
    /// Digits are decimal where a number has three of them or a sign, or where a list in brackets has no number that
    /// begins with a zero: hexadecimal bytes have two digits.
    private static func decimalNumbers(in text: String) -> [UInt8]? {
        guard let start = ["[", "{", "("].lazy.compactMap({ text.firstIndex(of: $0) }).first ?? text.indices.first
        else { return nil }
        let isList = "[{(".contains(text[start])
        let words = text[start...].split { $0.isWhitespace || ",;[](){}".contains($0) }
        var bytes: [UInt8] = []
        var isDecimal = isList && words.contains { $0.count == 1 }
        for word in words {
            guard word.count <= 4, let number = Int(word), word.first != "+", (-128...255).contains(number) else {
                return nil
            }
            if number < 0 || word.count == 3 { isDecimal = true }
            if word.count > 1, word.first == "0" { return nil }
            bytes.append(UInt8(truncatingIfNeeded: number))
        }
        return isDecimal ? bytes : nil
    }

    // MARK: - Digits

    private mutating func readDigits(_ text: String) throws(PastedAdvertError) {
        var words: [Substring] = []
        var count = 0
        var hasOffsets = true
        for line in text.split(whereSeparator: \.isNewline) {
            var line = line
            if let dump = DumpLine(line, offset: hasOffsets ? count : nil) {
                line = dump.digits
                hasOffsets = dump.hasOffset
            } else {
                line = Self.withoutLabels(line, &company)
            }
            for word in line.split(whereSeparator: Self.isSeparator) {
                let digits = Self.withoutMarks(word)
                words.append(digits)
                count += (digits.utf8.count + 1) / 2
            }
        }
        // Words before the bytes, such as the name of a command or of a type.
        let first = words.firstIndex { !Self.isRemark($0) } ?? 0
        if first < words.count { words.removeFirst(first) }
        // Digits that a line break or a space has torn apart belong together; single ones are small bytes.
        let isTorn = words.contains { $0.utf8.count > 2 && $0.utf8.count % 2 == 1 }
        var digits: [UInt8] = []
        for word in words {
            if word.utf8.count == 1, !isTorn { digits.append(UInt8(ascii: "0")) }
            digits += Array(word.utf8)
            guard let place = word.utf8.firstIndex(where: { Hexadecimal.value(of: $0) == nil }) else { continue }
            throw Self.noDigit(in: word, at: place)
        }
        bytes = Self.pairs(digits[...])
        if digits.count % 2 == 1 { withLeadingZero = Self.pairs([UInt8(ascii: "0")] + digits[...]) }
    }

    /// Returns the bytes of pairs of digits; a digit without another is left out.
    private static func pairs(_ digits: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for value in digits.lazy.compactMap({ Hexadecimal.value(of: $0) }) {
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return bytes
    }

    private static func noDigit(in word: Substring, at place: Substring.Index) -> PastedAdvertError {
        // Two of three characters of Base64 are no hexadecimal digits; in a slip of the pen it is one or two in all.
        let others = word.utf8.count { Hexadecimal.value(of: $0) == nil }
        if word.utf8.count >= 20, others * 4 >= word.utf8.count, word.utf8.allSatisfy(isBase64) {
            return PastedAdvertError(
                .notHexadecimal,
                "this looks like Base64 rather than hexadecimal digits; 'base64 -d | xxd -p' makes digits of it")
        }
        let distance = word.utf8.distance(from: word.startIndex, to: place)
        let pair = word.utf8.dropFirst(distance / 2 * 2).prefix(2)
        let isShown = pair.allSatisfy { (0x21...0x7E).contains($0) }
        let what = isShown ? "\"\(String(decoding: pair, as: UTF8.self))\"" : "a character of the text"
        return PastedAdvertError(
            .notHexadecimal,
            "\(what) is not a hexadecimal byte; paste the bytes of an advert, such as 02 01 06 1A FF 4C 00 02 15 …")
    }

    private static func isBase64(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// Separators of bytes, spaces and dashes of web pages and marks of no width among them.
    private static func isSeparator(_ character: Character) -> Bool {
        character.isWhitespace || ":-,;|._'\"[](){}<>‐‑–—\u{200B}\u{FEFF}".contains(character)
    }

    /// Returns the digits of a word without what marks them as hexadecimal: `0x1A`, `$1A`, `1Ah`.
    private static func withoutMarks(_ word: Substring) -> Substring {
        if word.hasPrefix("0x") || word.hasPrefix("0X") { return word.dropFirst(2) }
        if word.hasPrefix("$") || word.hasPrefix("#") || word.hasPrefix("%") { return word.dropFirst() }
        if word.utf8.count == 3, word.hasSuffix("h") || word.hasSuffix("H") { return word.dropLast() }
        return word
    }

    /// Returns whether a word is one of a language: it begins with a letter, and some letter is no digit.
    private static func isRemark(_ word: Substring) -> Bool {
        guard let first = word.first, first.isLetter, word.utf8.count <= 64 else { return false }
        return word.contains { $0.isLetter && !$0.isHexDigit }
    }

    /// Returns a line without what stands before the bytes: everything up to the last word of a language that ends in
    /// a colon or an equals sign, and a command up to `cmd`. The word `Key` names the company and no bytes.
    private static func withoutLabels(_ line: Substring, _ company: inout UInt16?) -> Substring {
        var rest = line
        var start = line.startIndex
        for mark in line.indices {
            if line[mark].isWhitespace { start = line.index(after: mark) }
            guard line[mark] == ":" || line[mark] == "=", isRemark(line[start..<mark]) else { continue }
            rest = line[line.index(after: mark)...]
            guard line[start..<mark].hasSuffix("Key") else { continue }
            let digits = rest.split(whereSeparator: \.isWhitespace).first.map(withoutMarks) ?? ""
            company = UInt16(digits, radix: 16)
            return ""
        }
        let words = rest.split(whereSeparator: \.isWhitespace)
        if let command = words.last(where: { $0 == "cmd" }) { return rest[command.endIndex...] }
        return rest
    }
}

/// A line of a dump: an offset, at most sixteen bytes, and the same bytes as characters; one of the two may be missing.
private struct DumpLine {
    /// The part of the line that has the bytes.
    let digits: Substring

    /// True where the line begins with its offset.
    let hasOffset: Bool

    /// - Parameter offset: the number of bytes before the line; nil where earlier lines had no offset.
    /// - Returns: nil for a line that has neither an offset nor characters.
    init?(_ line: Substring, offset: Int?) {
        var words = line.split(separator: " ")[...]
        var hasOffset = false
        if let first = words.first, let offset {
            let number = first.hasSuffix(":") ? first.dropLast() : first
            if (4...8).contains(number.utf8.count), Int(number, radix: 16) == offset {
                hasOffset = true
                words.removeFirst()
            }
        }
        let isDigits = { (word: Substring) in
            word.utf8.count % 2 == 0 && word.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
        }
        var count = 0
        guard let start = words.first?.startIndex else { return nil }
        var end = start
        for word in words where isDigits(word) {
            // Characters may look like digits; they stand apart behind sixteen bytes.
            let isApart = line[end..<word.startIndex].utf8.count > 1
            guard line[end..<word.startIndex].allSatisfy({ $0 == " " }), count < 16 || !isApart else { break }
            count += word.utf8.count / 2
            end = word.endIndex
        }
        let rest = line[end...]
        let hasCharacters =
            count > 0 && rest.hasPrefix("  ") && rest.utf8.contains { $0 != 0x20 && Hexadecimal.value(of: $0) == nil }
        guard hasOffset || hasCharacters else { return nil }
        digits = line[start..<end]
        self.hasOffset = hasOffset
    }
}
