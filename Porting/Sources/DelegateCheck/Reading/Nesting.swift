/// A measure of the nesting depth of brackets and conditions.
///
/// The parser's limit of levels does not apply to square brackets, which take exponential time; to conditions, which
/// take a recursive call each; or to its lookahead, which takes quadratic time.
enum Nesting {
    /// Returns the number of bytes up to the first bracket or condition that is nested too deep.
    static func readableLength(of utf8: [UInt8]) -> Int {
        var depth = 0
        var squareDepth = 0
        var conditionDepth = 0
        var isInString = false
        var index = 0
        while index < utf8.count {
            switch utf8[index] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                isInString = false
            case UInt8(ascii: "\\"):
                // The brackets of an interpolation count.
                if index + 1 < utf8.count, utf8[index + 1] != UInt8(ascii: "(") { index += 1 }
            case UInt8(ascii: "\""):
                isInString.toggle()
            case UInt8(ascii: "/") where !isInString && index + 1 < utf8.count && utf8[index + 1] == utf8[index]:
                while index + 1 < utf8.count, utf8[index + 1] != UInt8(ascii: "\n") { index += 1 }
            case UInt8(ascii: "[") where !isInString:
                squareDepth += 1
                if squareDepth > 12 { return index }
            case UInt8(ascii: "]") where !isInString:
                squareDepth = max(0, squareDepth - 1)
            case UInt8(ascii: "#") where !isInString && utf8[index...].starts(with: "#if".utf8):
                conditionDepth += 1
                if conditionDepth > 32 { return index }
            case UInt8(ascii: "#") where !isInString && utf8[index...].starts(with: "#endif".utf8):
                conditionDepth = max(0, conditionDepth - 1)
            case UInt8(ascii: "("), UInt8(ascii: "{"):
                depth += 1
                if depth > 128 { return index }
            case UInt8(ascii: ")"), UInt8(ascii: "}"):
                depth = max(0, depth - 1)
            default:
                break
            }
            index += 1
        }
        return utf8.count
    }
}
