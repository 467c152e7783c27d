/// A lexer that cuts a Swift source into tokens, in linear time and without recursion, so that no source can make it
/// slow or trap.
///
/// Mistakes in a source are the compiler's to report: here anything unterminated ends at the end of its line or file.
/// What stands in a string, interpolations included, gives one literal, since nothing is declared there.
struct Lexer {
    /// A string whose interpolation is being read.
    private struct OpenString {
        var hashes: Int
        var isMultiline: Bool

        /// The number of open parentheses in the interpolation.
        var depth = 0
    }

    private let source: [UInt8]
    private var position = 0
    private var tokens: [Token] = []
    private var openStrings: [OpenString] = []
    private var startsLine = true

    /// A Boolean value that indicates whether a value may have ended just before, so that a slash divides and starts no
    /// regular expression.
    private var isAfterValue = false

    /// Up to here no slash closes a regular expression: a line is searched once.
    private var noClosingSlashBefore = 0

    private init(_ source: [UInt8]) {
        self.source = source
        tokens.reserveCapacity(source.count / 5)
    }

    /// Returns the tokens of a source.
    static func tokens(of source: [UInt8]) -> [Token] {
        var lexer = Lexer(source)
        lexer.run()
        return lexer.tokens
    }

    private mutating func run() {
        if source.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        if byte(0) == UInt8(ascii: "#"), byte(1) == UInt8(ascii: "!") { skipLine() }
        while position < source.count {
            let byte = source[position]
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                startsLine = true
                position += 1
            case 0...0x20, 0x7F:
                position += 1
            case UInt8(ascii: "/"):
                readSlash()
            case UInt8(ascii: "\""):
                openString(hashes: 0)
            case UInt8(ascii: "#"):
                readHash()
            case UInt8(ascii: "`"):
                readQuotedWord()
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                readNumber()
            case _ where Self.isWord(byte):
                readWord()
            default:
                readMark(byte)
            }
        }
    }

    // MARK: Marks, words and numbers

    private mutating func readMark(_ mark: UInt8) {
        if !openStrings.isEmpty {
            let last = openStrings.count - 1
            if mark == UInt8(ascii: "(") {
                openStrings[last].depth += 1
            } else if mark == UInt8(ascii: ")") {
                if openStrings[last].depth == 0 {
                    position += 1
                    let string = openStrings.removeLast()
                    readString(hashes: string.hashes, isMultiline: string.isMultiline)
                    return
                }
                openStrings[last].depth -= 1
            }
        }
        position += 1
        append(.mark, from: position - 1, mark: mark)
        isAfterValue = mark == UInt8(ascii: ")") || mark == UInt8(ascii: "]") || mark == UInt8(ascii: "}")
    }

    private mutating func readWord() {
        let start = position
        skipWord()
        append(.word, from: start)
        isAfterValue = !Self.wordsBeforeValue.contains(source[start..<position])
    }

    private mutating func readQuotedWord() {
        let start = position + 1
        var end = start
        while end < source.count, !Self.isNewline(source[end]) {
            if source[end] == UInt8(ascii: "`") {
                position = end + 1
                append(.quotedWord, from: start, to: end)
                isAfterValue = true
                return
            }
            end += 1
        }
        position = end
    }

    private mutating func readNumber() {
        let start = position
        skipWord()
        if byte(0) == UInt8(ascii: "."), let next = byte(1), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) {
            position += 1
            skipWord()
        }
        append(.literal, from: start)
        isAfterValue = true
    }

    private mutating func readHash() {
        let start = position
        while byte(0) == UInt8(ascii: "#") { position += 1 }
        let hashes = position - start
        switch byte(0) {
        case UInt8(ascii: "\""):
            openString(hashes: hashes)
        case UInt8(ascii: "/"):
            readExtendedRegularExpression(hashes: hashes)
        case let next? where Self.isWord(next):
            let nameStart = position
            skipWord()
            let isDirective = hashes == 1 && Self.directives.contains(source[nameStart..<position])
            append(isDirective ? .directive : .macro, from: nameStart)
            isAfterValue = !isDirective
        default:
            break
        }
    }

    // MARK: Comments and regular expressions

    private mutating func readSlash() {
        switch byte(1) {
        case UInt8(ascii: "/"):
            skipLine()
        case UInt8(ascii: "*"):
            skipComment()
        default:
            if !isAfterValue, let end = regularExpressionEnd() {
                let start = position
                position = end
                append(.literal, from: start)
                isAfterValue = true
            } else {
                readMark(UInt8(ascii: "/"))
            }
        }
    }

    private mutating func skipComment() {
        position += 2
        var depth = 1
        while position < source.count {
            if byte(0) == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                position += 2
                depth -= 1
                if depth == 0 { return }
            } else if byte(0) == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
                position += 2
                depth += 1
            } else {
                if Self.isNewline(source[position]) { startsLine = true }
                position += 1
            }
        }
    }

    /// Returns the end of the regular expression that starts here, by the compiler's own rule: it starts with no space,
    /// ends on its line, and closes no parenthesis that it does not open.
    private mutating func regularExpressionEnd() -> Int? {
        guard position >= noClosingSlashBefore, let first = byte(1), first != 0x20, first != 0x09 else { return nil }
        var end = position + 1
        var depth = 0
        while end < source.count, !Self.isNewline(source[end]) {
            switch source[end] {
            case UInt8(ascii: "\\"): end += 1
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth < 0 { return nil }
            case UInt8(ascii: "/"): return end + 1
            default: break
            }
            end += 1
        }
        noClosingSlashBefore = end
        return nil
    }

    private mutating func readExtendedRegularExpression(hashes: Int) {
        let start = position
        position += 1
        var isMultiline = false
        if let next = byte(0) { isMultiline = Self.isNewline(next) }
        while position < source.count, isMultiline || !Self.isNewline(source[position]) {
            let byte = source[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "/"), skipHashes(hashes) { break }
        }
        position = min(position, source.count)
        append(.literal, from: start)
        isAfterValue = true
    }

    // MARK: Strings

    private mutating func openString(hashes: Int) {
        append(.literal, from: position)
        position += 1
        var isMultiline = byte(0) == UInt8(ascii: "\"") && byte(1) == UInt8(ascii: "\"")
        // `#"""#` is a quotation mark in a string of one line.
        if isMultiline, hashes > 0, closesOnThisLine(hashes: hashes) { isMultiline = false }
        if isMultiline { position += 2 }
        readString(hashes: hashes, isMultiline: isMultiline)
    }

    private func closesOnThisLine(hashes: Int) -> Bool {
        var index = position
        while index < source.count, !Self.isNewline(source[index]) {
            index += 1
            guard source[index - 1] == UInt8(ascii: "\"") else { continue }
            let end = index + hashes
            while index < end, index < source.count, source[index] == UInt8(ascii: "#") { index += 1 }
            if index == end { return true }
        }
        return false
    }

    /// Reads on in a string, to its end or to its next interpolation.
    private mutating func readString(hashes: Int, isMultiline: Bool) {
        isAfterValue = true
        while position < source.count {
            let byte = source[position]
            if byte == UInt8(ascii: "\\") {
                position += 1
                guard skipHashes(hashes) else { continue }
                if self.byte(0) == UInt8(ascii: "(") {
                    position += 1
                    openStrings.append(OpenString(hashes: hashes, isMultiline: isMultiline))
                    isAfterValue = false
                    return
                }
                if let next = self.byte(0), isMultiline || !Self.isNewline(next) { position += 1 }
            } else if byte == UInt8(ascii: "\"") {
                if isMultiline, self.byte(1) != byte || self.byte(2) != byte {
                    position += 1
                    continue
                }
                position += isMultiline ? 3 : 1
                if skipHashes(hashes) { return }
            } else if !isMultiline, Self.isNewline(byte) {
                return
            } else {
                position += 1
            }
        }
    }

    // MARK: Bytes

    private mutating func append(_ kind: Token.Kind, from start: Int, to end: Int? = nil, mark: UInt8 = 0) {
        guard openStrings.isEmpty else { return }
        tokens.append(
            Token(kind: kind, startsLine: startsLine, mark: mark, start: start, end: min(end ?? position, source.count))
        )
        startsLine = false
    }

    private func byte(_ offset: Int) -> UInt8? {
        let index = position + offset
        return index < source.count ? source[index] : nil
    }

    private mutating func skipLine() {
        while position < source.count, !Self.isNewline(source[position]) { position += 1 }
    }

    private mutating func skipWord() {
        while position < source.count, Self.isWord(source[position]) { position += 1 }
    }

    /// Steps over so many `#`; where there are fewer, over those, and returns false.
    private mutating func skipHashes(_ count: Int) -> Bool {
        var left = count
        while left > 0, byte(0) == UInt8(ascii: "#") {
            position += 1
            left -= 1
        }
        return left == 0
    }

    private static func isNewline(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private static let directives = WordSet(["if", "elseif", "else", "endif"])

    private static let wordsBeforeValue = WordSet([
        "return", "in", "case", "if", "while", "guard", "switch", "where", "throw", "try", "await", "is", "as", "else",
        "repeat", "do", "defer", "yield", "consume", "copy", "borrowing", "inout", "let", "var",
    ])
}
