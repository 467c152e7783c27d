import BeaconModel

/// A line of a dump: an offset, at most sixteen bytes, and the same bytes as characters. The offset or the characters
/// may be missing.
struct DumpLine {
    /// The part of the line with the bytes.
    let digits: Substring

    /// Reads a line.
    ///
    /// - Returns: nil for a line with text other than characters after the bytes, and for a line with neither an offset
    ///   nor characters.
    init?(_ line: Substring, hasOffset: Bool) {
        let words = line.split(separator: " ").dropFirst(hasOffset ? 1 : 0)
        guard let first = words.first else {
            // The last line of hexdump is the offset after the last byte.
            guard hasOffset else { return nil }
            digits = ""
            return
        }
        var count = 0
        var end = first.startIndex
        for word in words {
            // Characters may look like digits, but have a gap before them. hexdump has a wider space after eight bytes,
            // too.
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

    /// Returns true if the rest of a line is the characters of `count` bytes.
    ///
    /// The bytes after a broken byte are longer than that.
    private static func isCharacters(_ rest: Substring, of count: Int, hasOffset: Bool) -> Bool {
        var column = rest.drop { $0 == " " }
        while column.last == " " { column.removeLast() }
        guard !column.isEmpty else { return hasOffset }
        guard count > 0, rest.hasPrefix("  ") else { return false }
        let isMarked = column.count > 1 && ["|": "|", ">": "<"][column.first] == column.last
        // Wireshark prints a space between the two halves.
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

    /// Returns the offset of a dump's first line; nil if the line does not begin a dump.
    ///
    /// - Parameters:
    ///   - following: the next line. Its offset identifies a part of a longer dump.
    ///   - count: the number of bytes before the line.
    static func firstOffset(_ line: Substring, following: Substring?, count: Int) -> Int? {
        guard count == 0, let offset = offset(of: line) else { return nil }
        if offset == 0 { return 0 }
        guard let next = following.flatMap({ Self.offset(of: $0) }) else { return nil }
        return (4...64).contains(next - offset) && (next - offset) % 4 == 0 ? offset : nil
    }
}
