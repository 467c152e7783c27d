import CZlib

/// Packs bytes as one gzip member.
struct GzipDeflater: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 for a gzip header (zlib.h); level 6 is what gzip itself uses.
        beacon_deflate_init(stream, 6, 15 + 16)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Packs `bytes`; some of the outcome may be held back.
    func deflate(_ bytes: [UInt8]) -> [UInt8] { run(bytes, Z_NO_FLUSH) }

    /// What is left, and the end of the member.
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
                    // It fails only for arguments that cannot occur here.
                    _ = CZlib.deflate(stream, mode)
                    return output.count - Int(stream.pointee.avail_out)
                }
                packed.append(contentsOf: chunk[..<produced])
            } while stream.pointee.avail_out == 0
        }
        return packed
    }
}
