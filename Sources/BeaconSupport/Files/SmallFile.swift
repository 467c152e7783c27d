import CLibrary

/// A reader of small files, such as those of the kernel in `/sys` and `/proc`.
package enum SmallFile {
    /// Returns a file's bytes.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: the largest size in bytes.
    /// - Throws: ``StateError`` if it cannot be read, or is larger.
    package static func contents(path: String, limit: Int) throws(StateError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw error(path, errno)
            }
            if count == 0 { return bytes }
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
