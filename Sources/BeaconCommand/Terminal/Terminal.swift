import CLibrary
import CTerminal

/// The terminal on standard output, if there is one. It is looked at once, when a command first asks.
enum Terminal {
    /// A Boolean value that indicates whether standard output is a terminal that can move its cursor.
    static let isInteractive = canMoveCursor(STDOUT_FILENO)

    /// A Boolean value that indicates whether colour is welcome (no-color.org).
    static let hasColor = isInteractive && (environment("NO_COLOR") ?? "").isEmpty

    /// Lines and columns; 24 and 80 where they are unknown.
    static var size: (rows: Int, columns: Int) {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard beacon_terminal_size(STDOUT_FILENO, &rows, &columns) == 0, rows > 0, columns > 0 else { return (24, 80) }
        return (Int(rows), Int(columns))
    }

    /// Returns the value of a variable of the environment.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns whether a file is a terminal that understands escape codes.
    fileprivate static func canMoveCursor(_ file: Int32) -> Bool {
        isatty(file) == 1 && environment("TERM") ?? "dumb" != "dumb"
    }
}

/// The way in which a command's output is emphasized: with colours where they are welcome, and not at all elsewhere.
///
/// Every escape code of a colour comes from here, so that a file or a pipe never gets one.
struct TextStyle {
    /// A colour or an intensity, by its number (ECMA-48, SGR).
    enum Ink: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    private let hasColor: Bool

    /// The style of standard output.
    static let output = TextStyle(hasColor: Terminal.hasColor)

    /// The style without colours.
    static let plain = TextStyle(hasColor: false)

    /// Returns text in an ink; nil leaves it as it is.
    func callAsFunction(_ text: String, _ ink: Ink?) -> String {
        guard hasColor, let ink else { return text }
        return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
    }
}

/// What a terminal shows while it changes: the newest lines stand where those before stood, without a flicker.
struct LiveScreen {
    private var hasDrawn = false

    /// Writes lines over those before; what does not fit is counted in the last one.
    mutating func append(_ lines: [String], to buffer: inout [UInt8]) {
        var lines = lines
        let rows = Terminal.size.rows - 1
        if lines.count > rows, rows > 2 {
            let hidden = lines.count - rows + 1
            lines = Array(lines.prefix(rows - 1)) + ["… \(hidden) more lines; a taller window shows them"]
        }
        buffer.append(contentsOf: (hasDrawn ? "\u{1B}[H" : "\u{1B}[2J\u{1B}[H").utf8)
        for line in lines { buffer.append(contentsOf: (line + "\u{1B}[K\n").utf8) }
        buffer.append(contentsOf: "\u{1B}[J".utf8)
        hasDrawn = true
    }
}

/// Standard error, for everything that is not a result.
enum StandardError {
    /// A Boolean value that indicates whether standard error is a terminal that can move its cursor.
    static let isInteractive = Terminal.canMoveCursor(STDERR_FILENO)

    /// Writes a line.
    static func write(_ line: String) { writeRaw(line + "\n") }

    /// Writes text as it stands, without an end of line, at once.
    static func writeRaw(_ text: String) {
        var text = text
        // There is nowhere to report that standard error cannot be written.
        text.withUTF8 { _ = CLibrary.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
