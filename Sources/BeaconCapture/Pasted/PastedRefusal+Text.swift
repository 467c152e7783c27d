import BeaconModel

// Reasons that a text itself shows, whatever its bytes are.

extension PastedRefusal {
    /// Returns the error for bytes that a tool has left out; nil if no bytes are missing.
    ///
    /// Foundation leaves out the middle of data with more than 24 bytes, which an iBeacon's manufacturer data is.
    static func ofEllipsis(_ digits: Substring) -> PastedAdvertError? {
        let words = digits.split { $0.isWhitespace || $0 == "," }
        let isGap = { (word: Substring) in ["...", "…", "[...]", "[…]"].contains(word) }
        guard let gap = words.firstIndex(where: isGap), gap > 0, words[gap...].dropFirst().contains(where: isBytes)
        else { return nil }
        return PastedAdvertError(
            .cutShort,
            "bytes are left out where the text has \(words[gap]), as where Swift prints data of more than 24 bytes. Print "
                + "all of them: data.map { String(format: \"%02x\", $0) }.joined()")
    }

    private static func isBytes(_ word: Substring) -> Bool {
        word.utf8.count % 2 == 0 && word.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }

    /// Returns the reason for a text that is in no notation of bytes, but in another form that is known; nil for one
    /// that is in none.
    static func ofText(_ text: String) -> PastedAdvertError? {
        let content = text.drop(while: \.isWhitespace)
        if content.hasPrefix("{") || content.hasPrefix("["), content.contains("\":") || content.contains("\" :") {
            return PastedAdvertError(
                .notHexadecimal,
                "this is JSON, as gateways send it. Paste the digits of the advert in it alone, such as those behind "
                    + "\"rawData\" or \"data\"; fields such as \"uuid\" and \"major\" need no decoding")
        }
        let parts = content.split(separator: "/", omittingEmptySubsequences: false)
        if (2...3).contains(parts.count), ProximityUUID(String(parts[0])) != nil {
            return PastedAdvertError(
                .identityOnly,
                "this is a beacon's identity, UUID/MAJOR/MINOR, and has no bytes of an advert. It needs no decoding; "
                    + "'beacon range --region' takes it")
        }
        return nil
    }

    /// Returns true for a text of Base64, which ends with equals signs and has no label before one.
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
