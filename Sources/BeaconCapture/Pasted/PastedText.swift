import BeaconModel

/// The reading of a text as bytes: hexadecimal digits in any grouping, with or without a dump's offsets and characters.
enum PastedText {
    /// Returns the bytes of a text.
    ///
    /// After a missing digit, all other digits are shifted, and a frame there has another identity. So each group of
    /// digits must have whole bytes, and each line of a dump as many as its offset says.
    static func bytes(of text: String) throws(PastedAdvertError) -> [UInt8] {
        let lines = text.split(whereSeparator: \.isNewline)
        var bytes: [UInt8] = []
        var base: Int?
        for (index, line) in lines.enumerated() {
            let following = index + 1 < lines.count ? lines[index + 1] : nil
            if bytes.isEmpty { base = base ?? DumpLine.firstOffset(line, following: following) }
            var digits = line
            if let base {
                guard line.utf8.contains(where: { Hexadecimal.value(of: $0) != nil }) else { continue }
                guard DumpLine.offset(of: line) == base + bytes.count, let dump = DumpLine(line) else {
                    throw PastedAdvertError(
                        .missingDigit,
                        "this dump is damaged: after \(bytes.count) bytes, an offset or bytes do not fit; copy it again"
                    )
                }
                digits = dump.digits
            } else if let command = line.firstRange(of: "cmd ") {  // hcitool's options are before it.
                digits = line[command.upperBound...]
            }
            for word in digits.split(whereSeparator: isSeparator) {
                let digits = ["0x", "0X"].contains(word.prefix(2)) ? word.dropFirst(2) : word
                guard digits.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else {
                    throw OtherNotation.error(for: text, word)
                }
                guard digits.utf8.count % 2 == 0 else { throw half(digits, in: text) }
                let values = digits.utf8.compactMap { Hexadecimal.value(of: $0) }
                bytes += stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
            }
        }
        guard !bytes.isEmpty else { throw PastedAdvertError(.noBytes, "there are no bytes to decode") }
        return bytes
    }

    /// Returns true for separators of bytes, including spaces, dashes and zero-width characters of web pages.
    private static func isSeparator(_ character: Character) -> Bool {
        character.isWhitespace || ":-,;[](){}<>‐‑–—\u{200B}\u{FEFF}".contains(character)
    }

    private static func half(_ digits: Substring, in text: String) -> PastedAdvertError {
        // Identities and lists of decimal numbers have such digits, too.
        if let other = OtherNotation.known(text) { return other }
        let what =
            digits.utf8.count > 1 ? "this has an odd number of hexadecimal digits" : "\"\(digits)\" is half a byte"
        return PastedAdvertError(
            .missingDigit, "\(what), so a digit is missing; copy the advert again, with two digits for each byte")
    }

}

/// Texts that are often pasted but are no bytes in hexadecimal digits, with the remedy for each.
enum OtherNotation {
    /// The signatures, the most specific first. Each is compared with the text in lower case, in one line.
    private static var signatures: [(Regex<Substring>, PastedAdvertError.Code, String)] {
        [
            (
                #/[0-9a-f] ?(?:\.\.\.|…) ?[0-9a-f]/#, .cutShort,
                "bytes are omitted at \"...\", as when Swift prints data of more than 24 bytes; print all of them: "
                    + #"data.map { String(format: "%02x", $0) }.joined()"#
            ),
            (
                #/\\|b'|b"/#, .notHexadecimal,
                "this is a string of a program; print its bytes, in Python with data.hex()"
            ),
            (
                #/" ?:/#, .notHexadecimal,
                "this is JSON, for instance from a gateway; paste only the digits after \"rawData\" or \"data\""
            ),
            (
                #/uuid.*major.*minor|^[0-9a-f-]{32,36}(?:[-_:, /]+[0-9]{1,5}){1,2}$/#, .identityOnly,
                "this is a beacon's identity, without the bytes of an advert; it needs no decoding, so use it as "
                    + "UUID/MAJOR/MINOR with 'beacon range --region'"
            ),
            (
                #/(?:[0-9a-f]{2}\.){3}|key|value|company|data/#, .notHexadecimal,
                "this is output of bluetoothctl, nRF Connect, ESPHome or a program with other words; paste only the "
                    + "bytes, separated by spaces, and check first that their company is Apple (0x004C)"
            ),
            (
                #/^[a-z0-9() ]*[\[{(] ?(?:-?[0-9]{1,3}[ ,;\])}]+)+$/#, .notHexadecimal,
                "this is a list of decimal numbers; print the bytes in hexadecimal digits, in Python with bytes(list).hex()"
            ),
            (
                #/^(?=.*[g-z+\/])[a-z0-9+\/]{20,}=*$/#, .notHexadecimal,
                "this looks like Base64; convert it with 'base64 -d | xxd -p'"
            ),
        ]
    }

    /// Returns the remedy for a text in a known notation; nil for others.
    static func known(_ text: String) -> PastedAdvertError? {
        let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
        return signatures.first { text.firstMatch(of: $0.0) != nil }.map { PastedAdvertError($0.1, $0.2) }
    }

    /// Returns the error for a text with a word that is not hexadecimal digits.
    static func error(for text: String, _ word: Substring) -> PastedAdvertError {
        if let known = known(text) { return known }
        let isShown = word.utf8.allSatisfy { (0x21...0x7E).contains($0) } && word.utf8.count <= 20
        return PastedAdvertError(
            .notHexadecimal,
            "\(isShown ? "\"\(word)\"" : "a part of the text") is not a hexadecimal byte; paste bytes such as 4C 00 02 15 …"
        )
    }
}
