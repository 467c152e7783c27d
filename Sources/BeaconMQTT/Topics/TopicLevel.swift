/// One level of a topic, made of a name that people chose.
enum TopicLevel {
    /// The name as it stands in a topic.
    ///
    /// `/` parts levels, `+` and `#` are wildcards (MQTT 5.0, 4.7.1), `%` is what escapes; blanks and control characters
    /// are a nuisance in every tool. Each byte of these becomes `%` and two hexadecimal digits, as in an address of the
    /// web. All else, also what is not ASCII, stays. No two names become the same level.
    static func escape(_ name: String) -> String {
        // A level may be empty and then is easily overlooked. No name gives a lone `%`.
        guard !name.isEmpty else { return "%" }
        var level = ""
        for scalar in name.unicodeScalars {
            if isKept(scalar) {
                level.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    level += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
                }
            }
        }
        return level
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "+", "#", "%": false
        default:
            !scalar.properties.isWhitespace && !scalar.properties.isNoncharacterCodePoint
                && scalar.properties.generalCategory != .control
        }
    }

    /// What is wrong with a topic that is written as a whole, such as the base of all others; nil where nothing is.
    static func mistake(inTopic topic: String) -> String? {
        if topic.isEmpty { return "is empty; write a topic such as beacond/hall" }
        if topic.utf8.contains(0) || topic.contains("+") || topic.contains("#") {
            return "\"\(topic)\" has a wildcard in it; write a topic without + and #"
        }
        if topic.hasPrefix("$") { return "\"\(topic)\" begins with $, which is the broker's own; write another" }
        if topic.hasPrefix("/") || topic.hasSuffix("/") || topic.contains("//") {
            return "\"\(topic)\" has an empty level; write a topic such as beacond/hall"
        }
        // Half of what a topic may have (MQTT 5.0, 1.5.4), so that names have room.
        if topic.utf8.count > 32_000 { return "has \(topic.utf8.count) bytes; write at most 32000" }
        return nil
    }
}
