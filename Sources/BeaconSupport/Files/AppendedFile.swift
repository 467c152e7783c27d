import CLibrary

/// Functions that append to a file.
package enum AppendedFile {
    /// Appends bytes to a file. A missing file is created with the owner and mode of state. An existing file keeps its
    /// owner and mode.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - path: the file.
    ///   - isSynced: whether to wait until they are on the disk.
    /// - Throws: ``StateError`` if it could not write all bytes. The file is restored.
    package static func append(_ bytes: [UInt8], to path: String, isSynced: Bool = true) throws(StateError) {
        try AtomicFile.make(path)
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw AtomicFile.error(path, errno) }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        var failure = AtomicFile.write(bytes, to: descriptor)
        if failure == 0, isSynced, fsync(descriptor) != 0 { failure = errno }
        guard failure == 0 else {
            if length >= 0 { ftruncate(descriptor, length) }
            throw AtomicFile.error(path, failure)
        }
    }
}
