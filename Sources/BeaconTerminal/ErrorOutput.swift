import BeaconSupport
import CLibrary

/// Standard error: lines and, on a terminal below them, one live line.
///
/// Each text may contain names from outside, so all of it is made printable here.
package final class ErrorOutput: Sendable {
    /// The output of this process.
    package static let shared = ErrorOutput()

    private let status = Locked("")

    /// Writes a line above the live one.
    package func write(_ line: String) {
        status.withLock { status in
            let rest = status.isEmpty ? "" : status
            Self.put((status.isEmpty ? "" : "\r\u{1B}[K") + line.printableLines + "\n" + rest)
        }
    }

    /// Draws the live line; an empty text removes it.
    package func show(_ text: String) {
        status.withLock { status in
            guard !(text.isEmpty && status.isEmpty) else { return }
            status = text.printable
            Self.put("\r\u{1B}[K" + status)
        }
    }

    /// Writes a part of a line, which the user's answer ends.
    package func writePart(_ text: String) { status.withLock { _ in Self.put(text.printableLines) } }

    private static func put(_ text: String) {
        var text = text
        // A failure to write on standard error cannot be reported anywhere.
        text.withUTF8 { _ = CLibrary.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// Standard output for lines that people read, and for single lines of JSON.
///
/// Each text may contain names from outside, so all of it is made printable here.
package enum StandardOutput {
    /// Writes a line, or a text that ends as it is.
    package static func write(_ text: String, terminator: String = "\n") {
        print(text.printableLines, terminator: terminator)
    }

    /// Writes a JSON value whose control characters are already escaped.
    package static func write(json line: String) { print(line) }
}
