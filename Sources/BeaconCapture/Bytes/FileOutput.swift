import CLibrary

/// A file, a pipe or standard output, written in chunks with the system call `write`, and optionally gzipped.
///
/// Bytes that have been appended but not flushed are lost when the value is deallocated, so call ``finish()`` at the
/// end.
public struct FileOutput: ~Copyable {
    private static let chunk = 64 * 1024

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let path: String
    private var buffer: [UInt8] = []
    private var deflater: GzipDeflater?

    /// Creates a file, or empties an existing one.
    ///
    /// - Parameter path: the file; `-` is standard output. If the name ends in `.gz`, the file is gzipped.
    public init(path: String) throws(CaptureError) {
        self.path = path
        if path == "-" {
            descriptor = STDOUT_FILENO
            ownsDescriptor = false
        } else {
            descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            ownsDescriptor = true
            guard descriptor >= 0 else {
                let number = errno
                throw CaptureError(
                    .cannotWrite, "cannot be created: \(SystemError.text(of: number))", path: path, systemError: number)
            }
            if path.hasSuffix(".gz") { deflater = GzipDeflater() }
        }
        buffer.reserveCapacity(2 * Self.chunk)
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Lets `fill` append bytes, and writes them once there are enough for a chunk.
    @inline(__always)
    public mutating func append(_ fill: (inout [UInt8]) -> Void) throws(CaptureError) {
        fill(&buffer)
        if buffer.count >= Self.chunk { try flush() }
    }

    /// Writes the appended bytes. A gzipped file may hold some of them back until ``finish()``.
    public mutating func flush() throws(CaptureError) {
        guard !buffer.isEmpty else { return }
        if let packed = deflater?.deflate(buffer) {
            try write(packed)
        } else {
            try write(buffer)
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes all remaining bytes.
    public mutating func finish() throws(CaptureError) {
        try flush()
        if let rest = deflater?.finish() { try write(rest) }
    }

    private func write(_ bytes: [UInt8]) throws(CaptureError) {
        var number: Int32 = 0
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = CLibrary.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    written += count
                } else if errno == EAGAIN {
                    // Another process may have made the pipe or the terminal non-blocking for all of its users.
                    var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&output, 1, -1)
                } else if errno != EINTR {
                    number = errno
                    return
                }
            }
        }
        guard number == 0 else {
            throw CaptureError(
                .cannotWrite, "cannot be written: \(SystemError.text(of: number))", path: path, systemError: number)
        }
    }
}
