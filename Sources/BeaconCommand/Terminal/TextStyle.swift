import BeaconSupport
import BeaconTerminal

/// The style of a command's output, with colors only on a terminal that wants them.
///
/// Every escape code of a color comes from here, so that a file or a pipe never gets one.
struct TextStyle {
    /// A color or an intensity, by its number (ECMA-48, SGR).
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
    static let output = TextStyle(hasColor: Terminal.output.hasColor)

    /// The style without colors.
    static let plain = TextStyle(hasColor: false)

    /// Returns text on one line in printable form, and in an ink unless that is nil.
    func callAsFunction(_ text: String, _ ink: Ink?) -> String {
        let text = text.printable
        guard hasColor, let ink else { return text }
        return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
    }
}

/// A display in a terminal that changes in place: new lines replace the old ones without a flicker.
struct LiveScreen {
    private var hasDrawn = false

    /// Replaces the lines on the screen; if some do not fit, the last line counts them.
    mutating func append(_ lines: [String], to buffer: inout [UInt8]) {
        var lines = lines
        let rows = Terminal.output.size.rows - 1
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
