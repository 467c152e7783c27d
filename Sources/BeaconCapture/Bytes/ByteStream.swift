/// The content of a capture as a window that moves forward, unpacked where it is gzipped.
///
/// It holds no more than a chunk and the record at hand, so a file's size does not matter.
struct ByteStream: ~Copyable {
    private enum Input: ~Copyable {
        case file(FileInput)
        case memory(MemoryInput)

        mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, CaptureError> {
            switch self {
            case .file(let file): file.read(into: buffer)
            case .memory(let memory): .success(memory.read(into: buffer))
            }
        }
    }

    /// The number of bytes asked of the system at once: large enough that the cost of a call does not show.
    private static let chunk = 256 * 1024

    /// The window's storage; the bytes at hand are at `start..<end`.
    private(set) var buffer: [UInt8]
    private(set) var start = 0
    private(set) var end = 0

    /// The offset of `start` in the content.
    private(set) var offset = 0

    /// The error that ended the content early, thrown once the bytes at hand have been used.
    private(set) var failure: CaptureError?

    private var input: Input
    private var inflater: GzipInflater?
    private var packed: [UInt8] = []
    private var packedStart = 0
    private var packedEnd = 0
    private var isExhausted = false

    /// Opens a file, a pipe, or standard input where the path is `-`.
    ///
    /// - Parameter interruption: a descriptor that ends all reading once it can be read; -1 for none.
    init(path: String, interruption: Int32 = -1) throws(CaptureError) {
        self.init(input: .file(try FileInput(path: path, interruption: interruption)))
    }

    /// Opens an array.
    init(bytes: [UInt8]) {
        self.init(input: .memory(MemoryInput(bytes)))
    }

    private init(input: consuming Input) {
        self.input = input
        buffer = [UInt8](repeating: 0, count: Self.chunk)
        fill(atLeast: 2)
        guard available >= 2, buffer[start] == GzipInflater.magic.0, buffer[start + 1] == GzipInflater.magic.1 else {
            return
        }
        inflater = GzipInflater()
        packed = buffer
        packedStart = start
        packedEnd = end
        start = 0
        end = 0
    }

    /// The number of bytes at hand.
    var available: Int { end - start }

    /// Reads on until `count` bytes are at hand or the content ends.
    ///
    /// - Returns: whether they are.
    @discardableResult
    mutating func fill(atLeast count: Int) -> Bool {
        if end - start >= count { return true }
        return readOn(atLeast: count)
    }

    /// Moves the window past `count` bytes, which need to be at hand.
    mutating func consume(_ count: Int) {
        start += count
        offset += count
    }

    /// Moves the window past `count` bytes, reading on where it must.
    ///
    /// - Returns: whether there were so many.
    mutating func skip(_ count: Int) -> Bool {
        var remaining = count
        while remaining > available {
            remaining -= available
            consume(available)
            guard fill(atLeast: 1) else { return false }
        }
        consume(remaining)
        return true
    }

    private mutating func readOn(atLeast count: Int) -> Bool {
        if start > 0 {
            buffer.withUnsafeMutableBytes { bytes in
                if end > start {
                    bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                }
            }
            end -= start
            start = 0
        }
        if buffer.count < count {
            buffer.append(contentsOf: repeatElement(0, count: max(count, 2 * buffer.count) - buffer.count))
        }
        while end < count, !isExhausted {
            do throws(CaptureError) {
                let got = inflater == nil ? try read(into: end) : try inflate(into: end)
                if got == 0 { isExhausted = true }
                end += got
            } catch {
                var error = error
                // The place of what could not be unpacked; where reading failed, no place is to blame.
                if error.code != .cannotRead { error.offset = offset + available }
                failure = error
                isExhausted = true
            }
        }
        return end >= count
    }

    /// Reads into the window's storage from `position` on; 0 at the end.
    private mutating func read(into position: Int) throws(CaptureError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes in
            input.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[position...]))
        }.get()
    }

    /// Unpacks into the window's storage from `position` on; 0 at the end.
    private mutating func inflate(into position: Int) throws(CaptureError) -> Int {
        while true {
            if packedStart == packedEnd {
                packedStart = 0
                packedEnd = try packed.withUnsafeMutableBytes { input.read(into: $0) }.get()
                if packedEnd == 0 {
                    if let fault = inflater?.fault { throw fault }
                    guard inflater?.isAtEnd ?? true else {
                        throw CaptureError(
                            .truncated, "the gzip data ends too early; what came before was read")
                    }
                    return 0
                }
            }
            let step: Result<GzipInflater.Step, CaptureError> = buffer.withUnsafeMutableBytes { output in
                packed.withUnsafeMutableBytes { input in
                    Result { () throws(CaptureError) in
                        try inflater?.inflate(
                            UnsafeMutableRawBufferPointer(rebasing: input[packedStart..<packedEnd]),
                            into: UnsafeMutableRawBufferPointer(rebasing: output[position...]))
                            ?? GzipInflater.Step(consumed: 0, produced: 0)
                    }
                }
            }
            let done = try step.get()
            packedStart += done.consumed
            if done.produced > 0 { return done.produced }
        }
    }
}

extension ByteStream {
    /// Returns the 16-bit number `place` bytes into the window, which need to be at hand.
    func number16(at place: Int, isBigEndian: Bool) -> UInt16 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt16.self)
        return isBigEndian ? UInt16(bigEndian: raw) : UInt16(littleEndian: raw)
    }

    /// Returns the 32-bit number `place` bytes into the window, which need to be at hand.
    func number32(at place: Int, isBigEndian: Bool) -> UInt32 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: raw) : UInt32(littleEndian: raw)
    }

    /// Returns the 64-bit number `place` bytes into the window, which need to be at hand.
    func number64(at place: Int, isBigEndian: Bool) -> UInt64 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt64.self)
        return isBigEndian ? UInt64(bigEndian: raw) : UInt64(littleEndian: raw)
    }

    /// Makes `count` bytes of one record available.
    ///
    /// - Parameter record: what the bytes belong to, for the error.
    /// - Returns: false at the end of the content, where nothing more is at hand.
    mutating func fillRecord(_ count: Int, of record: String) throws(CaptureError) -> Bool {
        if fill(atLeast: count) { return true }
        if let failure { throw failure }
        if available == 0 { return false }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), which has \(count) bytes and only \(available) of them here; "
                + "what came before was read",
            offset: offset)
    }

    /// Makes `count` bytes available of a record whose beginning has been read.
    mutating func fillRest(_ count: Int, of record: String) throws(CaptureError) {
        if fill(atLeast: count) { return }
        if let failure { throw failure }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), which has \(count) bytes and only \(available) of them here; "
                + "what came before was read",
            offset: offset)
    }
}

/// An array that is read like a file.
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
