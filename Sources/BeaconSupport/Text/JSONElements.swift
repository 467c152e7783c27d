/// The elements of a JSON list, cut apart without decoding them.
package enum JSONElements {
    /// Returns the text of each element; nil if the text is no list.
    package static func of(_ json: [UInt8]) -> [ArraySlice<UInt8>]? {
        var parts: [ArraySlice<UInt8>] = []
        var begin: Int?
        var (depth, isText, isEscaped, hasEnded) = (0, false, false, false)
        for (index, byte) in json.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isText {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isText = false }
            } else if isSpace(byte) {
                continue
            } else {
                let isFirst = depth == 0
                guard !hasEnded, !isFirst || byte == UInt8(ascii: "[") else { return nil }
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
                hasEnded = depth == 0
                if hasEnded, byte != UInt8(ascii: "]") { return nil }
                if isFirst {
                    begin = index + 1
                } else if hasEnded || depth == 1 && byte == UInt8(ascii: ","), let start = begin {
                    let part = json[start..<index]
                    if !(hasEnded && parts.isEmpty && part.allSatisfy(isSpace)) { parts.append(part) }
                    begin = index + 1
                }
            }
        }
        return hasEnded ? parts : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
