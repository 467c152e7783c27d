/// Topic levels for arbitrary names.
package enum TopicLevel {
    /// Returns the level for a name.
    ///
    /// `/` separates levels, `+` and `#` are wildcards (MQTT 5.0, 4.7.1), and `%` is the escape character. Blanks and
    /// control characters are inconvenient in tools. Each UTF-8 byte of these becomes `%` and two hexadecimal digits,
    /// as in a URL. Other characters, including those beyond ASCII, are unchanged. Different names give different
    /// levels.
    package static func escape(_ name: String) -> String {
        // An empty level is valid but easily overlooked. No other name gives a lone `%`.
        guard !name.isEmpty else { return "%" }
        var level = ""
        for scalar in name.unicodeScalars {
            if isKept(scalar) {
                level.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { level += "%" + digits(of: byte) }
            }
        }
        return level
    }

    /// Returns the two hexadecimal digits of a byte.
    package static func digits(of byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "+", "#", "%": false
        default:
            !scalar.properties.isWhitespace && !scalar.properties.isNoncharacterCodePoint
                && scalar.properties.generalCategory != .control
        }
    }

    /// Returns the mistake in a complete topic, such as the base topic, with its remedy; nil for a valid topic.
    package static func mistake(inTopic topic: String) -> String? {
        if topic.isEmpty { return "is empty; write a topic such as beacond/hall" }
        if topic.utf8.contains(0) || topic.contains("+") || topic.contains("#") {
            return "\"\(topic)\" has a wildcard in it; write a topic without + and #"
        }
        if topic.hasPrefix("$") { return "\"\(topic)\" begins with $, which is reserved for the broker; write another" }
        if topic.hasPrefix("/") || topic.hasSuffix("/") || topic.contains("//") {
            return "\"\(topic)\" has an empty level; write a topic such as beacond/hall"
        }
        // Half of the longest topic (MQTT 5.0, 1.5.4), to leave room for names.
        if topic.utf8.count > 32_000 { return "has \(topic.utf8.count) bytes; write at most 32000" }
        return nil
    }
}
