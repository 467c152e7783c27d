import CLibrary

/// A lock on a file, held until it is deallocated or its process ends in any way (flock(2)).
///
/// Many can hold it shared, or one can hold it exclusively. Child processes do not inherit it. Two locks of one process
/// exclude each other like those of two processes.
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

    /// Acquires an existing file's lock exclusively, without write permission; nil if another holds it.
    ///
    /// - Throws: ``StateError`` if the file does not exist, or if it cannot be locked.
    package convenience init?(existing path: String) throws(StateError) {
        let descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
        try self.init(alone: descriptor, path)
    }

    /// Locks an open file, and closes it if another holds the lock.
    private convenience init?(alone descriptor: Int32, _ path: String) throws(StateError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            if error == EWOULDBLOCK { return nil }
            throw Self.error(path, error)
        }
        self.init(descriptor: descriptor)
    }

    /// Returns true while another holds the lock, shared or exclusively. Also returns true if it cannot find out, for
    /// example without free descriptors. It does not create a missing file.
    package static func isHeld(_ path: String) -> Bool {
        let descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Returns true while the path names the locked file, and not another file that replaced it.
    package func isOn(_ path: String) -> Bool {
        var locked = stat()
        var named = stat()
        return fstat(descriptor, &locked) == 0 && lstat(path, &named) == 0 && locked.st_ino == named.st_ino
            && locked.st_dev == named.st_dev
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Closing alone would leave the lock to a child process between fork and exec, which still has the descriptor.
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
        // Never follow a symbolic link, and never wait for the other end of a pipe.
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
