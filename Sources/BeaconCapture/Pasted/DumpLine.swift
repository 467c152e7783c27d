import BeaconModel

/// A line of a dump: an offset, bytes, and perhaps the same bytes as characters.
struct DumpLine {
    /// The part of the line with the bytes.
    let digits: Substring

    /// Reads a line, or returns nil for a line with text other than the bytes' characters.
    init?(_ line: Substring) {
        let words = line.split(separator: " ").dropFirst()
        var count = 0
        var end = words.first?.startIndex ?? line.endIndex
        let start = end
        for word in words {
            // Characters may look like digits, but have a gap before them. hexdump has a wider space after eight bytes,
            // too.
            let isApart = line[end..<word.startIndex].utf8.count > 1
            guard word.utf8.count % 2 == 0, word.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }),
                !isApart || count == 8 && word.utf8.count == words.first?.utf8.count
            else { break }
            count += word.utf8.count / 2
            end = word.endIndex
        }
        digits = line[start..<end]
        let rest = line[end...]
        // Bytes after a broken byte are longer than characters. The marks | around these count, and Wireshark's space.
        guard
            rest.allSatisfy(\.isWhitespace)
                || count > 0 && rest.hasPrefix("  ") && rest.drop(while: \.isWhitespace).count <= count + 2
        else { return nil }
    }

    /// Returns the offset at the beginning of a line: `0010`, `00000010:`, `0x0010:`; nil for a line without one.
    static func offset(of line: Substring) -> Int? {
        guard var number = line.split(whereSeparator: \.isWhitespace).first else { return nil }
        if number.hasSuffix(":") { number.removeLast() }
        if number.hasPrefix("0x") { number.removeFirst(2) }
        guard (3...8).contains(number.utf8.count) else { return nil }
        return number.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil } ? Int(number, radix: 16) : nil
    }

    /// Returns the offset of a dump's first line; nil if the line does not begin a dump.
    ///
    /// - Parameter following: the next line. Its offset identifies a part of a longer dump.
    static func firstOffset(_ line: Substring, following: Substring?) -> Int? {
        guard let offset = offset(of: line), offset > 0 else { return offset(of: line) }
        guard let next = following.flatMap({ Self.offset(of: $0) }) else { return nil }
        return (4...64).contains(next - offset) && (next - offset) % 4 == 0 ? offset : nil
    }
}
