import BeaconModel

// Reasons that the text itself shows, regardless of its bytes.

extension PastedRefusal {
    /// Returns the error for bytes that a tool has omitted; nil if no bytes are missing.
    ///
    /// Foundation omits the middle of data with more than 24 bytes, and an iBeacon's manufacturer data is longer.
    static func ofEllipsis(_ digits: Substring) -> PastedAdvertError? {
        let words = digits.split { $0.isWhitespace || $0 == "," }
        let isGap = { (word: Substring) in ["...", "…", "[...]", "[…]"].contains(word) }
        guard let gap = words.firstIndex(where: isGap), gap > 0, words[gap...].dropFirst().contains(where: isBytes)
        else { return nil }
        return PastedAdvertError(
            .cutShort,
            "bytes are omitted at \(words[gap]), as when Swift prints data of more than 24 bytes. Print "
                + "all of them: data.map { String(format: \"%02x\", $0) }.joined()")
    }

    private static func isBytes(_ word: Substring) -> Bool {
        word.utf8.count % 2 == 0 && word.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }

    /// Returns the reason for a text in a known form without bytes; nil for an unknown form.
    static func ofText(_ text: String) -> PastedAdvertError? {
        let content = text.drop(while: \.isWhitespace)
        if content.hasPrefix("{") || content.hasPrefix("["), content.contains("\":") || content.contains("\" :") {
            return PastedAdvertError(
                .notHexadecimal,
                "this is JSON, for instance from a gateway. Paste only the digits of its advert, such as those after "
                    + "\"rawData\" or \"data\"; fields such as \"uuid\" and \"major\" need no decoding")
        }
        let parts = content.split(separator: "/", omittingEmptySubsequences: false)
        // With other separators, and as the log lines of tools that decode adverts, such as ESPHome's.
        let isIdentity = content.wholeMatch(of: /[0-9A-Fa-f-]{32,36}[-_:, ]+[0-9]{1,5}[-_:, ]+[0-9]{1,5}\s*/) != nil
        let lines = content.lowercased()
        if (2...3).contains(parts.count) && ProximityUUID(String(parts[0])) != nil || isIdentity
            || ["uuid", "major", "minor"].allSatisfy({ lines.contains($0) })
        {
            return PastedAdvertError(
                .identityOnly,
                "this is a beacon's identity, UUID/MAJOR/MINOR, without the bytes of an advert. It needs no decoding; "
                    + "use it with 'beacon range --region'")
        }
        return nil
    }

    /// Returns true for Base64 text, which ends with equals signs without a label before them.
    static func isBase64(_ word: Substring, endingAt rest: Substring) -> Bool {
        word.utf8.count >= 20 && word.utf8.allSatisfy(isBase64)
            && rest.allSatisfy { $0 == "=" || $0.isWhitespace || "'\"".contains($0) }
    }

    /// Returns true for a character of Base64.
    static func isBase64(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
