/// A piece of a source, by its place; the text stays in the source.
struct Token {
    /// What a token is, as far as a skimmer needs to know.
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

    /// What it is.
    var kind: Kind

    /// Whether it is the first on its line.
    var startsLine: Bool

    /// The byte of a mark, else 0.
    var mark: UInt8

    /// Where it lies in the source.
    var start: Int
    var end: Int
}
