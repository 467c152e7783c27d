/// A piece of a source, by its place; the text stays in the source.
struct Token {
    /// The kinds of tokens that a skimmer tells apart.
    enum Kind: UInt8 {
        /// A name or a keyword.
        case word

        /// A name in backticks, which is never a keyword; the backticks are left out.
        case quotedWord

        /// A number, a string or a regular expression: something that a value ends with.
        case literal

        /// `#if`, `#elseif`, `#else` or `#endif`.
        case directive

        /// Any other `#name`.
        case macro

        /// One byte of an operator or of punctuation.
        case mark
    }

    /// The kind of token.
    var kind: Kind

    /// A Boolean value that indicates whether it is the first on its line.
    var startsLine: Bool

    /// The byte of a mark, else 0.
    var mark: UInt8

    /// The place in the source.
    var start: Int
    var end: Int
}

/// A set of words that are found by their bytes, without making a string of each word asked about.
struct WordSet {
    private let byLength: [[[UInt8]]]

    init(_ words: [String]) {
        var byLength: [[[UInt8]]] = []
        for word in words {
            let bytes = Array(word.utf8)
            while byLength.count <= bytes.count { byLength.append([]) }
            byLength[bytes.count].append(bytes)
        }
        self.byLength = byLength
    }

    /// Returns whether the bytes are one of the words.
    func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count < byLength.count else { return false }
        return byLength[bytes.count].contains { $0.elementsEqual(bytes) }
    }
}
