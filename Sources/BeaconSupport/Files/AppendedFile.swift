import CLibrary

/// A file to whose end something is added.
package enum AppendedFile {
    /// Adds bytes at a file's end, and returns when they are on the disk. A file that is not there is made with mode
    /// 0600; one that is there keeps its owner and its mode.
    ///
    /// - Throws: ``StateError`` where not all of them could be written; the file is as it was then.
    package static func append(_ bytes: [UInt8], to path: String) throws(StateError) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error(path, errno) }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                let number = errno
                if length >= 0 { ftruncate(descriptor, length) }
                throw error(path, number)
            }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw error(path, errno) }
    }

    private static func error(_ path: String, _ number: Int32) -> StateError {
        StateError(
            .cannotWrite,
            "cannot write \(path): \(String(cString: strerror(number))); check its owner and rights, and the disk")
    }
}
