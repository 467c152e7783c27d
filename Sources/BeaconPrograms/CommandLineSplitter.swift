/// The splitting of a command line into words.
package enum CommandLineSplitter {
    /// A mistake in a command line.
    package enum Failure: Error, Hashable, Sendable {
        /// The line is empty.
        case empty
        /// A quote is not closed.
        case openQuote
    }

    /// Splits a command at spaces. Single and double quotes keep words together, and a backslash escapes the next
    /// character.
    ///
    /// - Throws: ``Failure`` if the line is empty or a quote is not closed.
    package static func split(_ command: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in command {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " || character == "\t" {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { throw .openQuote }
        if let word { words.append(word) }
        guard !words.isEmpty else { throw .empty }
        return words
    }
}
