/// A fault in a configuration: its place, what was found, and what to write instead.
public struct Diagnostic: Hashable, Sendable {
    /// The origin of a value.
    public enum Origin: Hashable, Sendable {
        /// A place in the file.
        case file(SourceLocation)
        /// A variable of the environment.
        case environment(String)
        /// A line of the file of secrets beside the configuration.
        case secrets(path: String, line: Int)
    }

    /// The consequence of a diagnostic.
    public enum Severity: String, Hashable, Sendable {
        /// The daemon does not start with it: the file has a fault, or this machine lacks something that it names.
        case error
        /// The daemon starts, and something is less safe than it could be.
        case warning
    }

    /// The consequence.
    public var severity: Severity

    /// The place of the fault.
    public var origin: Origin

    /// The fault and its remedy.
    public var message: String

    /// Creates a diagnostic from its parts.
    public init(_ origin: Origin, _ message: String, severity: Severity = .error) {
        self.origin = origin
        self.message = message
        self.severity = severity
    }

    /// Returns a line in the form of compilers, so that editors find the place: `FILE:LINE:COLUMN: error: MESSAGE`.
    public func text(file: String) -> String {
        switch origin {
        case .file(let location): "\(file):\(location.line):\(location.column): \(severity.rawValue): \(message)"
        case .environment(let name): "\(name) in the environment: \(severity.rawValue): \(message)"
        case .secrets(let path, let line): "\(path):\(line): \(severity.rawValue): \(message)"
        }
    }
}

/// A place in a file: its line and column, both counted from one.
public struct SourceLocation: Hashable, Sendable, Comparable {
    /// The line.
    public var line: Int

    /// The column, in characters as Unicode counts them (scalars).
    public var column: Int

    /// Creates a location from its line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Returns whether a location comes before another in the file.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A search for the word that was meant where another was written.
enum SpellingSuggestion {
    /// Returns the candidate that a word differs from least, if it is near enough to have been meant: by one edit in
    /// words of up to four letters, by a third of the letters in longer ones.
    static func to(_ word: String, among candidates: some Sequence<String>) -> String? {
        // Nobody misspells a word of this length.
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

    /// Returns the least number of insertions, deletions, replacements and swaps of neighbours that make one of the
    /// other.
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
}

/// A configuration that cannot be used, with all its diagnostics.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case cannotRead, faults
        }

        private let value: Value

        /// The file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file was read, and has faults.
        public static let faults = Code(value: .faults)
    }

    /// The kind of failure.
    public var code: Code

    /// The faults and their remedies, a line for each.
    public var message: String

    /// The diagnostics, in the order of the file.
    public var diagnostics: [Diagnostic]

    /// The error behind it, if there is one.
    public var cause: (any Error)?

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String, diagnostics: [Diagnostic] = [], cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.diagnostics = diagnostics
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
