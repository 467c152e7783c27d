/// A place among the tokens of a source, with the steps that readers of declarations share.
///
/// It moves forward only, but for a look at the modifiers before a keyword, so reading takes linear time.
struct TokenCursor {
    let tokens: [Token]

    /// The number of the next token.
    var index = 0

    private let source: [UInt8]

    init(tokens: [Token], source: [UInt8]) {
        self.tokens = tokens
        self.source = source
    }

    /// The next token; nil at the end.
    var next: Token? { index < tokens.count ? tokens[index] : nil }

    /// Returns whether a token is one of some words.
    func isWord(_ position: Int, in words: WordSet) -> Bool {
        guard position < tokens.count, tokens[position].kind == .word else { return false }
        return words.contains(source[tokens[position].start..<tokens[position].end])
    }

    /// Returns the words that qualify a declaration, from its keyword backward.
    func modifiers(before keyword: Int) -> [String] {
        var words: [String] = []
        var position = keyword - 1
        // Nobody writes more, and a bound keeps any source linear.
        let limit = max(0, keyword - 64)
        while position >= limit {
            if mark(position) == UInt8(ascii: ")") {
                while position > limit, mark(position) != UInt8(ascii: "(") { position -= 1 }
                position -= 1
                guard position >= limit else { break }
                if tokens[position].kind == .word, !isAttribute(position) { words.append(text(position) + "()") }
            } else if tokens[position].kind == .word, !isAttribute(position) {
                let word = text(position)
                guard isWord(position, in: Self.modifiers) else { break }
                words.append(word)
            } else if !isAttribute(position), !isAttribute(position + 1) {
                break
            }
            position -= 1
        }
        return words
    }

    private func isAttribute(_ position: Int) -> Bool {
        position > 0 && position < tokens.count && tokens[position].kind == .word
            && mark(position - 1) == UInt8(ascii: "@")
    }

    /// Reads a name with dots; the arguments of its parts are left out.
    mutating func readPath() -> [String] {
        var path = [text(index)]
        index += 1
        while true {
            let before = index
            if mark(index) == UInt8(ascii: "<") { skipGenerics() }
            guard mark(index) == UInt8(ascii: "."), isName(index + 1) else {
                index = before
                return path
            }
            path.append(text(index + 1))
            index += 2
        }
    }

    /// Steps over what stands in angle brackets, if they start here and close before a body does.
    mutating func skipGenerics() {
        guard mark(index) == UInt8(ascii: "<") else { return }
        var depth = 0
        while index < tokens.count {
            let mark = tokens[index].mark
            if mark == UInt8(ascii: "<") {
                depth += 1
            } else if mark == UInt8(ascii: ">"), tokens[index - 1].mark != UInt8(ascii: "-") {
                depth -= 1
                if depth == 0 {
                    index += 1
                    return
                }
            } else if Self.endsHeader(mark) {
                return
            }
            index += 1
        }
    }

    /// Steps over a pair of brackets and all between them.
    ///
    /// - Returns: whether they close.
    @discardableResult
    mutating func skipBrackets() -> Bool {
        var depth = 0
        while index < tokens.count {
            let mark = tokens[index].mark
            index += 1
            if Self.opens(mark) {
                depth += 1
            } else if Self.closes(mark) {
                depth -= 1
                if depth == 0 { return true }
            }
        }
        return false
    }

    /// Returns the words and marks of some tokens, `->` and `...` as one each.
    func pieces(_ range: Range<Int>) -> [String] {
        var pieces: [String] = []
        var position = range.lowerBound
        while position < range.upperBound {
            if mark(position) == UInt8(ascii: "-"), mark(position + 1) == UInt8(ascii: ">") {
                pieces.append("->")
                position += 2
            } else if mark(position) == UInt8(ascii: "."), mark(position + 1) == UInt8(ascii: ".") {
                pieces.append("...")
                position += 3
            } else {
                pieces.append(text(position))
                position += 1
            }
        }
        return pieces
    }

    /// Returns the text of a token.
    func text(_ position: Int) -> String {
        String(decoding: source[tokens[position].start..<tokens[position].end], as: UTF8.self)
    }

    /// Returns the mark that a token is; 0 where it is none, or where there is no token.
    func mark(_ position: Int) -> UInt8 {
        position >= 0 && position < tokens.count ? tokens[position].mark : 0
    }

    /// Steps over a mark if it is the next token.
    mutating func takeMark(_ expected: UInt8) -> Bool {
        guard mark(index) == expected else { return false }
        index += 1
        return true
    }

    /// Returns whether a token is a name or a keyword.
    func isName(_ position: Int) -> Bool {
        position < tokens.count && (tokens[position].kind == .word || tokens[position].kind == .quotedWord)
    }

    /// Returns whether a token is this word, without backticks.
    func isWord(_ position: Int, _ word: String) -> Bool {
        guard position < tokens.count, tokens[position].kind == .word else { return false }
        return source[tokens[position].start..<tokens[position].end].elementsEqual(word.utf8)
    }

    /// Returns whether a mark opens a pair of brackets.
    static func opens(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: "(") || mark == UInt8(ascii: "[") || mark == UInt8(ascii: "{")
    }

    /// Returns whether a mark closes a pair of brackets.
    static func closes(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: ")") || mark == UInt8(ascii: "]") || mark == UInt8(ascii: "}")
    }

    /// Returns whether a mark ends the header of a declaration.
    static func endsHeader(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: "{") || mark == UInt8(ascii: "}") || mark == UInt8(ascii: ";")
    }

    private static let modifiers = WordSet([
        "open", "public", "package", "internal", "fileprivate", "private", "static", "class", "final", "override",
        "nonisolated", "isolated", "mutating", "nonmutating", "dynamic", "optional", "required", "convenience",
        "distributed", "indirect", "prefix", "postfix", "infix", "consuming", "borrowing", "unsafe", "weak", "lazy",
    ])
}
