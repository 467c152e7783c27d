/// A key that the user presses.
enum Key: Equatable {
    case up, down, left, right
    case enter, tab, backTab, escape, delete
    case character(Character)

    /// Returns the keys in the bytes that a terminal sent at once.
    ///
    /// - Parameter bytes: UTF-8, with VT100 sequences for keys that are not characters.
    static func keys(in bytes: some Sequence<UInt8>) -> [Key] {
        var rest = Substring(String(decoding: Array(bytes), as: UTF8.self))
        let sequences: [(String, Key)] = [
            ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left), ("\u{1B}[Z", .backTab),
            ("\u{1B}OA", .up), ("\u{1B}OB", .down), ("\u{1B}OC", .right), ("\u{1B}OD", .left), ("\u{1B}[3~", .delete),
            ("\r\n", .enter), ("\r", .enter), ("\n", .enter), ("\t", .tab), ("\u{7F}", .delete), ("\u{8}", .delete),
        ]
        var keys: [Key] = []
        while let first = rest.first {
            if let (text, key) = sequences.first(where: { rest.unicodeScalars.starts(with: $0.0.unicodeScalars) }) {
                keys.append(key)
                rest.unicodeScalars.removeFirst(text.unicodeScalars.count)
            } else if rest.hasPrefix("\u{1B}[") || rest.hasPrefix("\u{1B}O") {
                // Another key: skips its sequence up to the final letter.
                rest.removeFirst(2)
                while let next = rest.first {
                    rest.removeFirst()
                    if next.isLetter || next == "~" { break }
                }
            } else {
                rest.removeFirst()
                if first == "\u{1B}" {
                    keys.append(.escape)
                } else if first.unicodeScalars.allSatisfy({ $0.value >= 32 }) {
                    keys.append(.character(first))
                }
            }
        }
        return keys
    }
}
