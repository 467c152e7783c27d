/// Reads an array as if it were a file.
final class MemoryInput {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads some bytes.
    ///
    /// - Returns: how many; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(bytes.count - position, buffer.count)
        bytes.withUnsafeBytes { source in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<position + count]))
        }
        position += count
        return count
    }
}
