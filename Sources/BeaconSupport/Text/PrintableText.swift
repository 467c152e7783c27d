extension StringProtocol {
    /// The text on one line, without characters that control a terminal or a log. External text, such as a server's
    /// response or a program's output, may contain them on purpose.
    ///
    /// Line breaks and tabs become spaces. Other control characters, and those that change the writing direction
    /// (Unicode Standard Annex 9, 2), become `\u{…}`.
    package var printable: String { printable(keepingLines: false) }

    /// The same for a text of several lines: its line feeds and tabs stay.
    package var printableLines: String { printable(keepingLines: true) }

    private func printable(keepingLines: Bool) -> String {
        // Nearly all text is already printable.
        guard unicodeScalars.contains(where: { $0.value < 0x20 || $0.value > 0x7E }) else { return String(self) }
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where keepingLines && (scalar == "\n" || scalar == "\t"): result.unicodeScalars.append(scalar)
            case .control where scalar == "\n" || scalar == "\r" || scalar == "\t", .lineSeparator, .paragraphSeparator:
                // A carriage return with a line feed is one break.
                if !(scalar == "\n" && result.hasSuffix(" ")) { result += " " }
            case .control: result += scalar.escaped
            case .format where scalar.changesDirection: result += scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    fileprivate var changesDirection: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    fileprivate var escaped: String { "\\u{\(String(value, radix: 16))}" }
}

extension String {
    /// Returns the longest prefix with at most `count` bytes.
    package func prefix(bytes count: Int) -> String {
        var shorter = self
        while shorter.utf8.count > count { shorter.removeLast() }
        return shorter
    }
}

extension StringProtocol {
    /// The text as a sentence that another one can follow: it gets a period if it has no punctuation at its end.
    package var sentence: String {
        let text = String(self)
        guard let last = text.last, !".!?…".contains(last) else { return text }
        return text + "."
    }
}

extension Error {
    /// The error's description as a sentence that another one can follow.
    package var sentence: String { "\(self)".sentence }
}

extension Int {
    /// Returns the number with its noun, which gets an s unless the number is 1; `plural` is for another plural.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        self == 1 ? "1 \(noun)" : "\(self) \(plural ?? noun + "s")"
    }
}
