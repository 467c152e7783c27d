import BeaconModel

/// The bytes of a text, in the notations of common tools and languages: hexadecimal digits in any grouping, dumps with
/// offsets and characters, lists of numbers, and string literals with escapes.
struct PastedText {
    /// The bytes.
    private(set) var bytes: [UInt8] = []

    /// True if the number of digits is odd; the last digit is then omitted from the bytes.
    private(set) var isOdd = false

    /// The bytes for a number without its leading zero; nil if the digits form complete bytes or several numbers.
    private(set) var withLeadingZero: [UInt8]?

    /// The company that the text names outside of the bytes, as bluetoothctl and bleak do.
    private(set) var company: UInt16?

    /// Reads a text.
    ///
    /// - Throws: ``PastedAdvertError`` with the part that is not a byte.
    init(_ text: String) throws(PastedAdvertError) {
        if let literal = try StringLiteral(text) {
            company = literal.company
            if let digits = literal.text {
                try readDigits(digits)
            } else {
                bytes = literal.bytes
            }
        } else if let numbers = Self.decimalNumbers(in: text) {
            bytes = numbers
        } else {
            do throws(PastedAdvertError) {
                try readDigits(text)
            } catch {
                throw PastedRefusal.ofText(text) ?? error
            }
        }
        guard !bytes.isEmpty || isOdd else {
            throw PastedAdvertError(.noBytes, "there are no bytes to decode")
        }
    }

    // MARK: - Numbers

    /// Returns the bytes of a list of decimal numbers, signed or not, as arrays are printed; nil for anything else.
    ///
    /// Digits are decimal if a number has three of them or a sign, or if a list in brackets has no number that begins
    /// with a zero, because hexadecimal bytes have two digits.
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

    /// Returns digits without the number of their bytes, which ESPHome prints behind them: `02.01.06 (3)`.
    private static func withoutCount(_ digits: Substring) -> Substring {
        guard let count = digits.firstMatch(of: /\s*\(([0-9]+)\)\s*$/) else { return digits }
        let bytes = digits[..<count.range.lowerBound]
        return Int(count.1) == bytes.count(where: \.isHexDigit) / 2 ? bytes : digits
    }

    private mutating func readDigits(_ text: String) throws(PastedAdvertError) {
        var words: [Substring] = []
        var count = 0
        let lines = text.split(whereSeparator: \.isNewline)
        // The offset of the first byte, known after a line with an offset.
        var base: Int?
        for (index, line) in lines.enumerated() {
            let following = index + 1 < lines.count ? lines[index + 1] : nil
            if base == nil, let offset = DumpLine.firstOffset(line, following: following, count: count) {
                base = offset
            }
            let digits: Substring
            if let base {
                guard line.utf8.contains(where: { Hexadecimal.value(of: $0) != nil }) else { continue }
                guard DumpLine.offset(of: line) == base + count, let dump = DumpLine(line, hasOffset: true) else {
                    throw Self.gap(line, count)
                }
                digits = dump.digits
            } else if let dump = DumpLine(line, hasOffset: false) {
                digits = dump.digits
            } else {
                digits = Self.withoutCount(try Self.withoutLabels(line, &company))
                if let gap = PastedRefusal.ofEllipsis(digits) { throw gap }
            }
            for word in digits.split(whereSeparator: Self.isSeparator) {
                words.append(Self.withoutMarks(word))
                count += (words[words.count - 1].utf8.count + 1) / 2
            }
        }
        // Words before the bytes, such as the name of a command or a type.
        let first = words.firstIndex { !Self.isRemark($0) } ?? 0
        if first < words.count { words.removeFirst(first) }
        let digits = try Self.joined(words)
        bytes = Self.pairs(digits[...])
        isOdd = digits.count % 2 == 1
        if isOdd, words.count == 1 { withLeadingZero = Self.pairs([UInt8(ascii: "0")] + digits[...]) }
    }

    /// Returns the digits of all words.
    private static func joined(_ words: [Substring]) throws(PastedAdvertError) -> [UInt8] {
        for word in words {
            guard let place = word.utf8.firstIndex(where: { Hexadecimal.value(of: $0) == nil }) else { continue }
            throw noDigit(in: word, at: place)
        }
        // A line break or a space separated digits that belong together.
        if words.contains(where: { $0.utf8.count > 2 && $0.utf8.count % 2 == 1 }) { return words.flatMap { $0.utf8 } }
        // Single digits are small bytes, unless other small bytes here have a leading zero.
        let isPadded = words.contains { $0.utf8.count > 2 || $0.utf8.count == 2 && $0.hasPrefix("0") }
        if isPadded, let half = words.firstIndex(where: { $0.utf8.count == 1 }) {
            let before = words[..<half].suffix(2).joined(separator: " ")
            throw PastedAdvertError(
                .missingDigit,
                "\"\(words[half])\"\(before.isEmpty ? "" : ", after \"\(before)\",") is half a byte, and other bytes "
                    + "here have two digits. One digit is missing; copy the advert again")
        }
        return words.flatMap { ($0.utf8.count == 1 ? [UInt8(ascii: "0")] : []) + Array($0.utf8) }
    }

    private static func gap(_ line: Substring, _ count: Int) -> PastedAdvertError {
        let start = line.prefix(24).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let isShown = start.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return PastedAdvertError(
            .missingDigit,
            "this dump is damaged at \(isShown ? "the line \"\(start)\"" : "one of its lines"): \(count) bytes are "
                + "before it, and its offset or its bytes do not fit. Copy the dump again")
    }

    /// Returns the bytes of pairs of digits; omits a single last digit.
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
        // Two of three Base64 characters are not hexadecimal digits, but a typing error affects only one or two.
        let others = word.utf8.count { Hexadecimal.value(of: $0) == nil }
        if word.utf8.count >= 20, others * 4 >= word.utf8.count, word.utf8.allSatisfy(PastedRefusal.isBase64) {
            return PastedAdvertError(
                .notHexadecimal,
                "this looks like Base64 rather than hexadecimal digits; convert it with 'base64 -d | xxd -p'")
        }
        let distance = word.utf8.distance(from: word.startIndex, to: place)
        let pair = word.utf8.dropFirst(distance / 2 * 2).prefix(2)
        let isShown = pair.allSatisfy { (0x21...0x7E).contains($0) }
        let what = isShown ? "\"\(String(decoding: pair, as: UTF8.self))\"" : "a character of the text"
        return PastedAdvertError(
            .notHexadecimal,
            "\(what) is not a hexadecimal byte; paste the bytes of an advert, such as 02 01 06 1A FF 4C 00 02 15 …")
    }

    /// Returns true for separators of bytes, including spaces, dashes and zero-width characters of web pages.
    private static func isSeparator(_ character: Character) -> Bool {
        character.isWhitespace || ":-,;|._'\"[](){}<>‐‑–—\u{200B}\u{FEFF}".contains(character)
    }

    /// Returns the digits of a word without hexadecimal marks: `0x1A`, `$1A`, `1Ah`.
    private static func withoutMarks(_ word: Substring) -> Substring {
        if word.hasPrefix("0x") || word.hasPrefix("0X") { return word.dropFirst(2) }
        if word.hasPrefix("$") || word.hasPrefix("#") || word.hasPrefix("%") { return word.dropFirst() }
        if word.utf8.count == 3, word.hasSuffix("h") || word.hasSuffix("H") { return word.dropLast() }
        return word
    }

    /// Returns true for a word of a language: it begins with a letter, and some letter is not a digit.
    static func isRemark(_ word: Substring) -> Bool {
        guard let first = word.first, first.isLetter, word.utf8.count <= 64 else { return false }
        return word.contains { $0.isLetter && !$0.isHexDigit }
    }

    /// Returns a line without its labels: everything up to the last word of a language before a colon or an equals
    /// sign, and a command up to `cmd`. Labels such as `Key` and `Company` name the company.
    private static func withoutLabels(
        _ line: Substring, _ company: inout UInt16?
    ) throws(PastedAdvertError) -> Substring {
        var label: Substring?
        var rest = line
        var start = line.startIndex
        var wordBefore: Range<Substring.Index>?
        for mark in line.indices {
            if line[mark].isWhitespace {
                if start < mark { wordBefore = start..<mark }
                start = line.index(after: mark)
            }
            guard line[mark] == ":" || line[mark] == "=" else { continue }
            // Swift and Foundation print a space before an equals sign.
            guard let name = start < mark ? start..<mark : line[mark] == "=" ? wordBefore : nil, isRemark(line[name]),
                !PastedRefusal.isBase64(line[name], endingAt: line[mark...])
            else { continue }
            if let label, rest.startIndex <= name.lowerBound {
                company = try PastedCompany.named(by: label, as: line[rest.startIndex..<name.lowerBound]) ?? company
            }
            label = line[min(label == nil ? line.startIndex : rest.startIndex, name.lowerBound)..<name.upperBound]
            rest = line[line.index(after: mark)...]
        }
        if let label, PastedCompany.isAlone(label, rest) {
            company = try PastedCompany.named(by: label, as: rest) ?? company
            return ""
        }
        if let label { try PastedCompany.checkName(in: label, rest) }
        let words = rest.split(whereSeparator: \.isWhitespace)
        if let command = words.last(where: { $0 == "cmd" }) { return rest[command.endIndex...] }
        return rest
    }
}
