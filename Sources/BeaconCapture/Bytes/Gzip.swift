import CZlib

/// A decompressor of gzip with one or several members, such as those of `cat a.gz b.gz`.
struct GzipInflater: ~Copyable {
    /// The numbers of bytes that one step consumed and produced.
    struct Step {
        var consumed: Int
        var produced: Int
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private var isBetweenMembers = false

    /// The damage in the data, kept until the bytes before it have been returned.
    private(set) var fault: CaptureError?

    /// The first bytes of each member (RFC 1952, 2.3.1).
    static let magic: (UInt8, UInt8) = (0x1F, 0x8B)

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 for a gzip header (zlib.h). It fails only if memory runs out.
        beacon_inflate_init(stream, 15 + 16)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// A Boolean value that indicates whether the content may end here: at the end of a member.
    var isAtEnd: Bool { isBetweenMembers }

    /// Decompresses bytes of `input` into `output`.
    mutating func inflate(
        _ input: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CaptureError) -> Step {
        if let fault { throw fault }
        if isBetweenMembers {
            guard let next = input.first else { return Step(consumed: 0, produced: 0) }
            // Tools that write to tapes fill the last block with zeros.
            if next == 0 {
                return Step(consumed: input.prefix { $0 == 0 }.count, produced: 0)
            }
            inflateReset(stream)
            isBetweenMembers = false
        }
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = uInt(clamping: input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = uInt(clamping: output.count)
        let available = (in: stream.pointee.avail_in, out: stream.pointee.avail_out)
        let status = CZlib.inflate(stream, Z_NO_FLUSH)
        let step = Step(
            consumed: Int(available.in - stream.pointee.avail_in),
            produced: Int(available.out - stream.pointee.avail_out))
        switch status {
        case Z_OK, Z_BUF_ERROR: return step
        case Z_STREAM_END:
            isBetweenMembers = true
            return step
        default:
            let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)"
            let error = CaptureError(.damaged, "the gzip data is damaged (\(reason)); everything before it was read")
            // The output before the fault is valid.
            guard step.produced > 0 else { throw error }
            fault = error
            return step
        }
    }
}

/// A compressor of bytes into one gzip member.
struct GzipDeflater: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 for a gzip header (zlib.h); level 6 is gzip's default.
        beacon_deflate_init(stream, 6, 15 + 16)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses `bytes`; part of the output may be held back.
    func deflate(_ bytes: [UInt8]) -> [UInt8] { run(bytes, Z_NO_FLUSH) }

    /// Returns the remaining output and the end of the member.
    func finish() -> [UInt8] { run([], Z_FINISH) }

    private func run(_ bytes: [UInt8], _ mode: Int32) -> [UInt8] {
        var input = bytes
        var packed: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 32 * 1024)
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = uInt(clamping: input.count)
            repeat {
                let produced = chunk.withUnsafeMutableBufferPointer { output in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = uInt(clamping: output.count)
                    // It fails only for invalid arguments.
                    _ = CZlib.deflate(stream, mode)
                    return output.count - Int(stream.pointee.avail_out)
                }
                packed.append(contentsOf: chunk[..<produced])
            } while stream.pointee.avail_out == 0
        }
        return packed
    }
}
