import CLibrary

/// A lock on a file, which its process holds until the lock is deallocated or the process ends in any way (flock(2)).
///
/// Many may hold it shared, or one alone. Programs that the process starts do not inherit it. Two locks of one process
/// exclude each other as those of two processes do.
package final class FileLock: Sendable {
    private let descriptor: Int32

    /// Acquires the lock shared with others, and waits while another holds it exclusively.
    ///
    /// - Throws: ``StateError`` if the file cannot be opened or locked.
    package convenience init(shared path: String) throws(StateError) {
        self.init(descriptor: try Self.wait(for: path, LOCK_SH))
    }

    /// Acquires the lock exclusively, and waits while another holds it.
    ///
    /// - Throws: ``StateError`` if the file cannot be opened or locked.
    package convenience init(exclusive path: String) throws(StateError) {
        self.init(descriptor: try Self.wait(for: path, LOCK_EX))
    }

    /// Acquires the lock exclusively; nil if another holds it.
    ///
    /// - Throws: ``StateError`` if the file cannot be opened or locked.
    package convenience init?(alone path: String) throws(StateError) {
        try self.init(alone: try Self.open(path), path)
    }

    /// Acquires the lock of a file that is there exclusively, without the right to write it; nil if another holds it.
    ///
    /// - Throws: ``StateError`` if there is no such file, or it cannot be locked.
    package convenience init?(existing path: String) throws(StateError) {
        let descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
        try self.init(alone: descriptor, path)
    }

    /// Locks an open file, which is closed where another holds the lock.
    private convenience init?(alone descriptor: Int32, _ path: String) throws(StateError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            if error == EWOULDBLOCK { return nil }
            throw Self.error(path, error)
        }
        self.init(descriptor: descriptor)
    }

    /// Returns true while another holds the lock, in whatever way, and where that cannot be found out, for want of
    /// descriptors for instance. A file that is not there is not created.
    package static func isHeld(_ path: String) -> Bool {
        let descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Returns true while the file of this path is the one that is locked, and not another that took its place.
    package func isOn(_ path: String) -> Bool {
        var locked = stat()
        var named = stat()
        return fstat(descriptor, &locked) == 0 && lstat(path, &named) == 0 && locked.st_ino == named.st_ino
            && locked.st_dev == named.st_dev
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Closing alone would leave the lock to a program that is being started at this moment, until it has its own
        // descriptors (between fork and exec).
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func wait(for path: String, _ operation: Int32) throws(StateError) -> Int32 {
        let descriptor = try open(path)
        while flock(descriptor, operation) != 0 {
            guard errno == EINTR else {
                let error = errno
                close(descriptor)
                throw Self.error(path, error)
            }
        }
        return descriptor
    }

    private static func open(_ path: String) throws(StateError) -> Int32 {
        // Never through a symbolic link, never waiting for the other end of a pipe.
        let descriptor = CLibrary.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw error(path, errno) }
        return descriptor
    }

    private static func error(_ path: String, _ number: Int32) -> StateError {
        StateError(
            .cannotWrite,
            "cannot lock \(path): \(String(cString: strerror(number))); check its folder's owner and rights")
    }
}
