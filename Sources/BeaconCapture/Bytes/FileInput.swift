import Glibc

/// A file, a pipe or standard input, read by the system's `read`, which blocks.
public struct FileInput: ~Copyable {
    private let descriptor: Int32
    private let ownsDescriptor: Bool

    /// Opens `path`; `-` is standard input.
    init(path: String) throws(CaptureError) {
        if path == "-" {
            descriptor = STDIN_FILENO
            ownsDescriptor = false
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        ownsDescriptor = true
        guard descriptor >= 0 else {
            let number = errno
            throw CaptureError(
                .cannotOpen, "cannot be opened: \(SystemError.text(of: number))", path: path, systemError: number)
        }
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Reads some bytes.
    ///
    /// - Returns: how many; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, CaptureError> {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return .success(count) }
            let number = errno
            if number == EINTR { continue }
            let message = "cannot be read: \(SystemError.text(of: number))"
            return .failure(CaptureError(.cannotRead, message, systemError: number))
        }
    }

    /// Returns the content of a small file.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - limit: how many bytes it may have.
    public static func contents(path: String, limit: Int) throws(CaptureError) -> [UInt8] {
        let input = try FileInput(path: path)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try chunk.withUnsafeMutableBytes { input.read(into: $0) }.get()
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw CaptureError(.cannotRead, "has more than \(limit) bytes, which it should not", path: path)
            }
        }
    }
}
