import CLibrary

/// Replacement of a file in place, for a folder in which this user may not create files, and for a file that is mounted
/// by itself.
///
/// A crash can leave a part of the new content. Keep a copy of the old content before.
package enum OverwrittenFile {
    /// Replaces the content of an existing file, and returns when it is on the disk.
    ///
    /// - Throws: ``StateError`` if this user may not write the file.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(StateError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw AtomicFile.error(path, errno) }
        var failure = AtomicFile.write(bytes, to: descriptor)
        if failure == 0, ftruncate(descriptor, off_t(bytes.count)) != 0 { failure = errno }
        if failure == 0, fsync(descriptor) != 0 { failure = errno }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        guard failure == 0 else { throw AtomicFile.error(path, failure) }
    }
}
