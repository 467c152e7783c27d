import CZlib

/// Unpacks gzip, one or several members behind one another, as `cat a.gz b.gz` makes them.
struct GzipInflater: ~Copyable {
    /// What one step brought.
    struct Step {
        var consumed: Int
        var produced: Int
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private var isBetweenMembers = false

    /// What is wrong with the data, where bytes that came out before still had to be handed over.
    private(set) var fault: CaptureError?

    /// The first bytes of each member (RFC 1952, 2.3.1).
    static let magic: (UInt8, UInt8) = (0x1F, 0x8B)

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 for a gzip header (zlib.h). It fails only for want of memory.
        beacon_inflate_init(stream, 15 + 16)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether the content may end here: at the end of a member.
    var isAtEnd: Bool { isBetweenMembers }

    /// Unpacks some bytes of `input` into `output`.
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
            let error = CaptureError(.damaged, "the gzip data is damaged (\(reason)); what came before was read")
            // What came out before the fault is still good.
            guard step.produced > 0 else { throw error }
            fault = error
            return step
        }
    }
}
