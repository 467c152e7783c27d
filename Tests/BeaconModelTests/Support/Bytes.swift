import Testing

/// Returns the bytes of hexadecimal digits, which may have white space between them.
func bytes(_ hex: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }
    try #require(digits.count % 2 == 0, "an odd number of digits", sourceLocation: sourceLocation)
    var bytes: [UInt8] = []
    var rest = digits[...]
    while !rest.isEmpty {
        let byte = try #require(UInt8(rest.prefix(2), radix: 16), sourceLocation: sourceLocation)
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
