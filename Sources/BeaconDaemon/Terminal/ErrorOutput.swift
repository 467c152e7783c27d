import BeaconSupport
import CLibrary
import CTerminal

/// Standard error: lines and, on a terminal below them, one live line.
final class ErrorOutput: Sendable {
    /// The output of this process.
    static let shared = ErrorOutput()

    /// A Boolean value indicating whether standard error is a terminal that can draw a line anew.
    static var isTerminal: Bool {
        isatty(STDERR_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"
    }

    /// The columns of that terminal; 80 where they are unknown.
    static var width: Int {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        return beacon_terminal_size(STDERR_FILENO, &rows, &columns) == 0 && columns > 0 ? Int(columns) : 80
    }

    private let status = Locked("")

    /// Writes a line above the live one.
    func write(_ line: String) {
        status.withLock { status in
            let rest = status.isEmpty ? "" : status
            Self.put((status.isEmpty ? "" : "\r\u{1B}[K") + line + "\n" + rest)
        }
    }

    /// Draws the live line; an empty text removes it.
    func show(_ text: String) {
        status.withLock { status in
            guard !(text.isEmpty && status.isEmpty) else { return }
            status = text
            Self.put("\r\u{1B}[K" + text)
        }
    }

    /// Writes a part of a line, which an answer ends.
    func writePart(_ text: String) { status.withLock { _ in Self.put(text) } }

    private static func put(_ text: String) {
        var text = text
        // A failure to write on standard error cannot be reported anywhere.
        text.withUTF8 { _ = CLibrary.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
