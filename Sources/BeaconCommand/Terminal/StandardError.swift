import Glibc

/// Where everything goes that is not a result.
enum StandardError {
    /// Whether a person watches.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line.
    static func write(_ line: String) { writeRaw(line + "\n") }

    /// Writes text as it stands, without an end of line, at once.
    static func writeRaw(_ text: String) {
        var text = text
        // Nothing can be told about a failure to tell something.
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
