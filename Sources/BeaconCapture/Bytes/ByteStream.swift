/// The content of a capture as a window that moves forward, decompressed if it is gzipped.
///
/// It holds no more than a chunk and the current record, so a file's size does not matter.
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

    /// The number of bytes per system call: large enough that the cost of a call does not matter.
    private static let chunk = 256 * 1024

    /// The window's storage; the available bytes are at `start..<end`.
    private(set) var buffer: [UInt8]
    private(set) var start = 0
    private(set) var end = 0

    /// The offset of `start` in the content.
    private(set) var offset = 0

    /// The error that ended the content early, thrown after the available bytes have been used.
    private(set) var failure: CaptureError?

    private var input: Input
    private var inflater: GzipInflater?
    private var packed: [UInt8] = []
    private var packedStart = 0
    private var packedEnd = 0
    private var isExhausted = false

    /// Opens a file or a pipe, or standard input if the path is `-`.
    ///
    /// - Parameter interruption: a descriptor that ends all reading once it is readable; -1 for none.
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

    /// True if the content is unpacked data.
    var isUnpacked: Bool { inflater != nil }

    /// The number of available bytes.
    var available: Int { end - start }

    /// Reads until `count` bytes are available or the content ends.
    ///
    /// - Returns: true if they are available.
    @discardableResult
    mutating func fill(atLeast count: Int) -> Bool {
        if end - start >= count { return true }
        return readOn(atLeast: count)
    }

    /// Moves the window past `count` bytes, which must be available.
    mutating func consume(_ count: Int) {
        start += count
        offset += count
    }

    /// Moves the window past `count` bytes, and reads more if necessary.
    ///
    /// - Returns: true if the content has `count` more bytes.
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
                // The position of the data that could not be decompressed. A failed read has no position.
                if error.code != .cannotRead { error.offset = offset + available }
                failure = error
                isExhausted = true
            }
        }
        return end >= count
    }

    /// Reads into the window's storage from `position` on; returns 0 at the end.
    private mutating func read(into position: Int) throws(CaptureError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes in
            input.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[position...]))
        }.get()
    }

    /// Decompresses into the window's storage from `position` on; returns 0 at the end.
    private mutating func inflate(into position: Int) throws(CaptureError) -> Int {
        while true {
            if packedStart == packedEnd {
                packedStart = 0
                packedEnd = try packed.withUnsafeMutableBytes { input.read(into: $0) }.get()
                if packedEnd == 0 {
                    if let fault = inflater?.fault { throw fault }
                    guard inflater?.isAtEnd ?? true else {
                        throw CaptureError(
                            .truncated, "the gzip data ends too early; everything before it was read")
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
    /// Returns the 16-bit number at `place` in the window, whose bytes must be available.
    func number16(at place: Int, isBigEndian: Bool) -> UInt16 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt16.self)
        return isBigEndian ? UInt16(bigEndian: raw) : UInt16(littleEndian: raw)
    }

    /// Returns the 32-bit number at `place` in the window, whose bytes must be available.
    func number32(at place: Int, isBigEndian: Bool) -> UInt32 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: raw) : UInt32(littleEndian: raw)
    }

    /// Returns the 64-bit number at `place` in the window, whose bytes must be available.
    func number64(at place: Int, isBigEndian: Bool) -> UInt64 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt64.self)
        return isBigEndian ? UInt64(bigEndian: raw) : UInt64(littleEndian: raw)
    }

    /// Makes `count` bytes of one record available.
    ///
    /// - Parameter record: the name of the record, for the error.
    /// - Returns: false at the end of the content, with no bytes left.
    mutating func fillRecord(_ count: Int, of record: String) throws(CaptureError) -> Bool {
        if fill(atLeast: count) { return true }
        if let failure { throw failure }
        if available == 0 { return false }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), with \(available) of its \(count) bytes; "
                + "everything before it was read",
            offset: offset)
    }

    /// Makes `count` bytes available of a record that has begun.
    mutating func fillRest(_ count: Int, of record: String) throws(CaptureError) {
        if fill(atLeast: count) { return }
        if let failure { throw failure }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), with \(available) of its \(count) bytes; "
                + "everything before it was read",
            offset: offset)
    }
}

/// An array that is read like a file.
final class MemoryInput {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads bytes.
    ///
    /// - Returns: their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(bytes.count - position, buffer.count)
        bytes.withUnsafeBytes { source in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<position + count]))
        }
        position += count
        return count
    }
}
