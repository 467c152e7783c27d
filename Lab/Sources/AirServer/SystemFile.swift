import Glibc

/// Reads files with the C library.
enum SystemFile {
    /// Returns the bytes of a file, or nil if it does not exist.
    static func bytes(of path: String) throws -> [UInt8]? {
        guard let file = fopen(path, "re") else {
            if errno == ENOENT { return nil }
            throw SocketError("cannot open \(path)", errno)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        guard ferror(file) == 0 else { throw SocketError("cannot read \(path)", errno) }
        return bytes
    }
}
