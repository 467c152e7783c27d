extension StringProtocol {
    /// The text on one line and without characters that a terminal or a log would obey: what comes from outside, an
    /// answer of a server or the output of a program, may be meant to do so.
    ///
    /// Line breaks and tabs become spaces; other control characters, and those that change the direction of writing
    /// (Unicode Standard Annex 9, 2), become `\u{…}`.
    package var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\r" || scalar == "\t", .lineSeparator, .paragraphSeparator:
                // A pair of carriage return and line feed is one break.
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
    /// Returns the beginning that has at most so many bytes.
    package func prefix(bytes count: Int) -> String {
        var shorter = self
        while shorter.utf8.count > count { shorter.removeLast() }
        return shorter
    }
}

extension StringProtocol {
    /// The text as a sentence that another can follow: with a full stop, where it ends without one.
    package var sentence: String {
        let text = String(self)
        guard let last = text.last, !".!?…".contains(last) else { return text }
        return text + "."
    }
}

extension Error {
    /// The error's description as a sentence that another can follow.
    package var sentence: String { "\(self)".sentence }
}
