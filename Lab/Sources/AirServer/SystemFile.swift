import Glibc

/// Reads files by the C library.
enum SystemFile {
    /// The bytes of a file, or nil where there is none.
    static func bytes(of path: String) throws -> [UInt8]? {
        guard let file = fopen(path, "re") else {
            if errno == ENOENT { return nil }
            throw SocketError("\(path) cannot be opened", errno)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        guard ferror(file) == 0 else { throw SocketError("\(path) cannot be read", errno) }
        return bytes
    }
}
