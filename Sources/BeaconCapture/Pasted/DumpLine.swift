import BeaconModel

/// A line of a dump: an offset, at most sixteen bytes, and the same bytes as characters; the offset or the characters
/// may be missing.
struct DumpLine {
    /// The part of the line that has the bytes.
    let digits: Substring

    /// Reads a line.
    ///
    /// - Returns: nil for a line in which something else than characters stands behind the bytes, and for one that has
    ///   neither an offset nor characters.
    init?(_ line: Substring, hasOffset: Bool) {
        let words = line.split(separator: " ").dropFirst(hasOffset ? 1 : 0)
        guard let first = words.first else {
            // The last line of hexdump is the offset behind the last byte.
            guard hasOffset else { return nil }
            digits = ""
            return
        }
        var count = 0
        var end = first.startIndex
        for word in words {
            // Characters may look like digits, and stand apart; hexdump has a wider space behind eight bytes, too.
            let isApart = line[end..<word.startIndex].utf8.count > 1
            guard Self.isBytes(word), !isApart || count == 8 && word.utf8.count == first.utf8.count else { break }
            count += word.utf8.count / 2
            end = word.endIndex
        }
        guard Self.isCharacters(line[end...], of: count, hasOffset: hasOffset) else { return nil }
        digits = line[first.startIndex..<end]
    }

    private static func isBytes(_ word: Substring) -> Bool {
        word.utf8.count % 2 == 0 && word.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }

    /// Returns whether the rest of a line are the characters of so many bytes.
    ///
    /// Bytes behind a torn one are longer than that.
    private static func isCharacters(_ rest: Substring, of count: Int, hasOffset: Bool) -> Bool {
        var column = rest.drop { $0 == " " }
        while column.last == " " { column.removeLast() }
        guard !column.isEmpty else { return hasOffset }
        guard count > 0, rest.hasPrefix("  ") else { return false }
        let isMarked = column.count > 1 && ["|": "|", ">": "<"][column.first] == column.last
        // Wireshark has a space between the two halves.
        guard column.count <= count + (isMarked ? 2 : 1) else { return false }
        return hasOffset || column.utf8.contains { Hexadecimal.value(of: $0) == nil }
    }

    // MARK: - Offsets

    /// Returns the offset at the beginning of a line: `0010`, `00000010:`, `0x0010:`; nil for a line without one.
    static func offset(of line: Substring) -> Int? {
        guard var number = line.split(whereSeparator: \.isWhitespace).first else { return nil }
        if number.hasSuffix(":") { number.removeLast() }
        if number.hasPrefix("0x") { number.removeFirst(2) }
        guard (3...8).contains(number.utf8.count), number.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else {
            return nil
        }
        return Int(number, radix: 16)
    }

    /// Returns the offset with which a line begins a dump; nil where the line begins none.
    ///
    /// - Parameters:
    ///   - following: The next line. A part of a dump is known by the offset there.
    ///   - count: The number of bytes before the line.
    static func firstOffset(_ line: Substring, following: Substring?, count: Int) -> Int? {
        guard count == 0, let offset = offset(of: line) else { return nil }
        if offset == 0 { return 0 }
        guard let next = following.flatMap({ Self.offset(of: $0) }) else { return nil }
        return (4...64).contains(next - offset) && (next - offset) % 4 == 0 ? offset : nil
    }
}
