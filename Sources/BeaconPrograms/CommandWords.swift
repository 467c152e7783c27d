/// The words of a command as users write it in one line.
public enum CommandWords {
    /// Why a command has no words.
    public enum Failure: Error, Hashable, Sendable {
        /// There is nothing in it.
        case empty
        /// A quote has no end.
        case openQuote
    }

    /// Splits a command at spaces; single and double quotes keep words together, and a backslash the next character.
    public static func split(_ command: String) throws(Failure) -> [String] {
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
