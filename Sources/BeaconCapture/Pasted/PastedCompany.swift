import BeaconModel

/// The company that a text names outside of the bytes.
///
/// An unknown name is refused, because data with an iBeacon's layout is an iBeacon only if it is Apple's.
enum PastedCompany {
    /// Returns the company of a label; nil for another label.
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

    /// Returns true if a label's value is only a company, so that the bytes are in another line.
    static func isAlone(_ label: Substring, _ value: Substring) -> Bool {
        guard isCompany(label) else { return false }
        if label.hasSuffix("Key") { return true }
        let words = value.split { !$0.isLetter && !$0.isNumber }
        // The number may occur twice: 0x004C (76).
        return words.contains { PastedText.isRemark($0) } && words.count { !PastedText.isRemark($0) } <= 2
            && words.allSatisfy { $0.utf8.count < 8 || PastedText.isRemark($0) }
    }

    /// Throws an error if a label's value begins with the name of another company, followed by the bytes.
    static func checkName(in label: Substring, _ value: Substring) throws(PastedAdvertError) {
        let words = value.split { !$0.isLetter && !$0.isNumber }
        guard isCompany(label), let first = words.first, PastedText.isRemark(first) else { return }
        guard words.contains(where: { $0.lowercased() == "apple" }) else { throw unknown(first) }
    }

    private static func isCompany(_ label: Substring) -> Bool {
        let name = label.lowercased()
        return label.hasSuffix("Key") || name.contains("company") || name.contains("manufacturer")
    }

    /// Returns the number of a company: `76`, `0x004C`, `004C`, `4C`.
    static func number(_ word: some StringProtocol) -> UInt16? {
        if word.hasPrefix("0x") || word.hasPrefix("0X") { return UInt16(word.dropFirst(2), radix: 16) }
        guard let first = word.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
        let isDecimal = word.utf8.count == 1 || first != UInt8(ascii: "0")
        return isDecimal ? UInt16(word) ?? UInt16(word, radix: 16) : UInt16(word, radix: 16)
    }

    /// Returns the error for an unknown company.
    static func unknown(_ name: some StringProtocol) -> PastedAdvertError {
        let words = name.prefix(40).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let isShown = words.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return PastedAdvertError(
            .otherCompany,
            "the text names a company\(isShown ? ", \"\(words)\"," : "") that is unknown. Paste only the data if "
                + "it is Apple's (0x004C); only Apple's data can be an iBeacon's")
    }
}
