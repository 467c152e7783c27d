import CLibrary

/// A file to whose end something is added.
package enum AppendedFile {
    /// Adds bytes at a file's end, and returns when they are on the disk. A file that is not there is made with the
    /// owner and mode of state; one that is there keeps its owner and its mode.
    ///
    /// - Throws: ``StateError`` where not all of them could be written; the file is as it was then.
    package static func append(_ bytes: [UInt8], to path: String) throws(StateError) {
        try AtomicFile.make(path)
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw AtomicFile.error(path, errno) }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        var failure = AtomicFile.write(bytes, to: descriptor)
        if failure == 0, fsync(descriptor) != 0 { failure = errno }
        guard failure == 0 else {
            if length >= 0 { ftruncate(descriptor, length) }
            throw AtomicFile.error(path, failure)
        }
    }
}
