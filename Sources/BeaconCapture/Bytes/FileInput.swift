import CLibrary

/// A file, a pipe or standard input, read with the blocking system call `read`.
public struct FileInput: ~Copyable {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// A descriptor that ends all reading once it is readable; -1 for none.
    private let interruption: Int32

    /// Opens `path`; `-` is standard input.
    ///
    /// - Parameter interruption: a descriptor that ends all reading, as at the end of the file, once it is readable,
    ///   because a pipe may be silent for long. -1 for none.
    init(path: String, interruption: Int32 = -1) throws(CaptureError) {
        self.interruption = interruption
        if path == "-" {
            descriptor = STDIN_FILENO
            ownsDescriptor = false
            return
        }
        var (file, number): (Int32, Int32) = (-1, EMFILE)
        // For 10 s, since descriptors can be exhausted for a moment.
        for attempt in 0..<100 where file < 0 && (number == EMFILE || number == ENFILE) {
            if attempt > 0 { usleep(100_000) }
            file = open(path, O_RDONLY | O_CLOEXEC)
            number = errno
        }
        (descriptor, ownsDescriptor) = (file, true)
        guard file >= 0 else {
            throw CaptureError(
                .cannotOpen, "cannot be opened: \(SystemError.text(of: number))", path: path, systemError: number)
        }
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Reads bytes.
    ///
    /// - Returns: their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, CaptureError> {
        while true {
            guard !isInterrupted() else { return .success(0) }
            let count = CLibrary.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return .success(count) }
            let number = errno
            if number == EINTR { continue }
            let message = "cannot be read: \(SystemError.text(of: number))"
            return .failure(CaptureError(.cannotRead, message, systemError: number))
        }
    }

    /// Waits for bytes if reading can be interrupted.
    ///
    /// - Returns: true if reading must end.
    private func isInterrupted() -> Bool {
        guard interruption >= 0 else { return false }
        var ends: InlineArray<2, pollfd> = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
        ]
        var span = ends.mutableSpan
        span.withUnsafeMutableBufferPointer { while poll($0.baseAddress, 2, -1) < 0, errno == EINTR {} }
        return ends[1].revents != 0
    }

    /// Returns the content of a small file.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - limit: the maximum number of bytes.
    public static func contents(path: String, limit: Int) throws(CaptureError) -> [UInt8] {
        let input = try FileInput(path: path)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try chunk.withUnsafeMutableBytes { input.read(into: $0) }.get()
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw CaptureError(.cannotRead, "is larger than the limit of \(limit) bytes", path: path)
            }
        }
    }
}
