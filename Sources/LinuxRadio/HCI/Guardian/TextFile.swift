import Glibc

/// Small files, whole.
enum TextFile {
    /// The text of a file, or nil where it cannot be read. More than 64 KB are not read.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            let count = Glibc.read(file, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    /// Writes a file that only its owner may read, in place of any before, so that a reader finds the old one or the new one.
    ///
    /// - Returns: whether that was possible.
    static func write(_ text: String, to path: String) -> Bool {
        let draft = path + ".new"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        guard isWritten, rename(draft, path) == 0 else {
            unlink(draft)
            return false
        }
        return true
    }
}
