/// A search for the correct spelling of a misspelled word.
package enum SpellingSuggestion {
    /// Returns the candidate that differs least from a word, if it is similar enough: one edit in words of up to four
    /// letters, a third of the letters in longer ones.
    package static func to(_ word: String, among candidates: some Sequence<String>) -> String? {
        // A word of this length is not a spelling mistake.
        guard word.utf8.count <= 100 else { return nil }
        let letters = Array(word.lowercased().unicodeScalars)
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let distance = distance(letters, Array(candidate.lowercased().unicodeScalars))
            if distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        guard let best, best.distance <= max(1, letters.count / 3) else { return nil }
        return best.candidate
    }

    /// Returns the least number of insertions, deletions, replacements and swaps of neighbors that turn one word into
    /// the other.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }

    /// Corrects the suggestion in an error about an unknown option: the argument parser suggests the nearest option of
    /// the command, however little it resembles. The command's help has all options.
    package static func correctingOption(in message: String, help: String) -> String {
        guard let error = message.firstMatch(of: /Unknown option '(-*)([^']+)'(\. Did you mean '[^']+'\?)?/) else {
            return message
        }
        let (word, options) = (String(error.2), Set(help.matches(of: /--([a-z][a-z-]*)/).map { String($0.1) }).sorted())
        var near = options.filter { $0.hasSuffix("-\(word)") || $0.hasPrefix("\(word)-") }
        if near.isEmpty { near = [to(word, among: options)].compactMap(\.self) }
        let names = near.map { "'--\($0)'" }.joined(separator: " or ")
        let suggestion = names.isEmpty ? "" : ". Did you mean \(names)?"
        return message.replacing(error.0, with: "Unknown option '\(error.1)\(word)'\(suggestion)", maxReplacements: 1)
    }
}
