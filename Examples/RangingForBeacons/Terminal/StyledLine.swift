/// A line of a screen, made of styled parts.
struct StyledLine {
    /// The style of a part. All styles are readable without colors.
    enum Style: String {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case inverse = "7"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"

        /// True for a color, which is left out if the user does not want colors.
        var isColor: Bool { rawValue.count == 2 }
    }

    private var parts: [(text: String, style: Style)] = []

    /// The number of characters.
    private(set) var count = 0

    init(_ text: String = "", _ style: Style = .plain) { append(text, style) }

    /// Adds a part.
    mutating func append(_ text: String, _ style: Style = .plain) {
        parts.append((text, style))
        count += text.count
    }

    /// Adds spaces up to a column.
    mutating func pad(to column: Int) { append(String(repeating: " ", count: max(0, column - count))) }

    /// Returns the line for a terminal, cut off at the edge of the window.
    func text(columns: Int, hasColor: Bool) -> String {
        var left = columns
        var result = ""
        for part in parts where left > 0 {
            let text = part.text.prefix(left)
            left -= text.count
            if part.style == .plain || part.style.isColor && !hasColor {
                result += text
            } else {
                result += "\u{1B}[\(part.style.rawValue)m\(text)\u{1B}[0m"
            }
        }
        return result
    }
}
