import CLibrary

/// A reader of small files, such as those of the kernel in `/sys` and `/proc`.
package enum SmallFile {
    /// Returns a file's bytes.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: the largest size in bytes.
    /// - Throws: ``StateError`` if it cannot be read, or is larger; if it is a pipe to which no program writes.
    package static func contents(path: String, limit: Int) throws(StateError) -> [UInt8] {
        // Without O_NONBLOCK, opening a named pipe waits for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw error(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN else { throw error(path, errno) }
                var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&file, 1, 10_000) == 0 else { continue }
                throw StateError(.cannotRead, "cannot read \(path): it is a pipe, and nothing arrived for 10 s")
            }
            if count == 0 {
                var status = stat()
                guard bytes.isEmpty, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
                    return bytes
                }
                throw StateError(.cannotRead, "cannot read \(path): it is a pipe, and no program writes to it")
            }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw StateError(.cannotRead, "cannot read \(path): it has more than \(limit) bytes")
            }
        }
    }

    private static func error(_ path: String, _ number: Int32) -> StateError {
        StateError(.cannotRead, "cannot read \(path): \(String(cString: strerror(number)))")
    }
}
