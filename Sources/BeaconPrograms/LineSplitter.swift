/// Makes lines of bytes that come in pieces.
struct LineSplitter {
    /// A program that never ends a line must not fill the memory.
    static let longestLine = 4096

    private var line: [UInt8] = []

    /// Takes in bytes, and hands out each line that is complete.
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ tell: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish(tell)
            } else {
                if line.count == Self.longestLine { finish(tell) }
                line.append(byte)
            }
        }
    }

    /// Hands out what is left.
    mutating func finish(_ tell: (String) -> Void) {
        guard !line.isEmpty else { return }
        tell(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
    }
}
