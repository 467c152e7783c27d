import BeaconModel

/// The company that a text names apart from the bytes.
///
/// A name that is not understood is refused: data that is laid out as an iBeacon's is one of Apple's only.
enum PastedCompany {
    /// Returns the company that a label gives; nil for a label of something else.
    ///
    /// - Throws: ``PastedAdvertError`` for a company other than Apple without its number.
    static func named(by label: Substring, as value: Substring) throws(PastedAdvertError) -> UInt16? {
        guard isCompany(label) else { return nil }
        let words = value.split { !$0.isLetter && !$0.isNumber }
        guard !words.isEmpty else { return nil }
        if let number = words.lazy.compactMap({ number($0) }).first { return number }
        guard words.contains(where: { $0.lowercased() == "apple" }) else { throw unknown(value) }
        return 0x004C
    }

    /// Returns whether a label's value is a company and nothing else, so that the bytes are in another line.
    static func isAlone(_ label: Substring, _ value: Substring) -> Bool {
        guard isCompany(label) else { return false }
        if label.hasSuffix("Key") { return true }
        let words = value.split { !$0.isLetter && !$0.isNumber }
        // The number may be there twice: 0x004C (76).
        return words.contains { PastedText.isRemark($0) } && words.count { !PastedText.isRemark($0) } <= 2
            && words.allSatisfy { $0.utf8.count < 8 || PastedText.isRemark($0) }
    }

    /// Throws an error where a label's value begins with the name of another company and goes on with the bytes.
    static func checkName(in label: Substring, _ value: Substring) throws(PastedAdvertError) {
        let words = value.split { !$0.isLetter && !$0.isNumber }
        guard isCompany(label), let first = words.first, PastedText.isRemark(first) else { return }
        guard words.contains(where: { $0.lowercased() == "apple" }) else { throw unknown(first) }
    }

    private static func isCompany(_ label: Substring) -> Bool {
        let name = label.lowercased()
        return label.hasSuffix("Key") || name.contains("company") || name.contains("manufacturer")
    }

    /// Returns a number of a company: `76`, `0x004C`, `004C`, `4C`.
    static func number(_ word: some StringProtocol) -> UInt16? {
        if word.hasPrefix("0x") || word.hasPrefix("0X") { return UInt16(word.dropFirst(2), radix: 16) }
        guard let first = word.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
        let isDecimal = word.utf8.count == 1 || first != UInt8(ascii: "0")
        return isDecimal ? UInt16(word) ?? UInt16(word, radix: 16) : UInt16(word, radix: 16)
    }

    /// Returns the error for a company that is not understood.
    static func unknown(_ name: some StringProtocol) -> PastedAdvertError {
        let words = name.prefix(40).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let isShown = words.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return PastedAdvertError(
            .otherCompany,
            "the text names a company\(isShown ? ", \"\(words)\"," : "") that is not known here. Paste the data alone if "
                + "it is of Apple (0x004C); only then is it an iBeacon's")
    }
}
