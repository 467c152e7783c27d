import Glibc

/// A lock on a file, which its process holds until it gives it up or ends in any way (flock(2)).
///
/// Many may hold it shared, or one alone. Programs that the process starts do not inherit it.
public final class FileLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock together with others, and waits while somebody has it alone.
    ///
    /// - Throws: ``ServiceError`` if the file cannot be opened or locked.
    public convenience init(shared path: String) throws(ServiceError) {
        let descriptor = try Self.open(path)
        while flock(descriptor, LOCK_SH) != 0 {
            guard errno == EINTR else {
                let error = errno
                close(descriptor)
                throw Self.error(path, error)
            }
        }
        self.init(descriptor: descriptor)
    }

    /// Takes the lock alone; nil if anybody has it.
    ///
    /// - Throws: ``ServiceError`` if the file cannot be opened or locked.
    public convenience init?(alone path: String) throws(ServiceError) {
        let descriptor = try Self.open(path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            if error == EWOULDBLOCK { return nil }
            throw Self.error(path, error)
        }
        self.init(descriptor: descriptor)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Closing alone would leave the lock to a program that is being started at this moment, until it has its own
        // descriptors (between fork and exec).
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func open(_ path: String) throws(ServiceError) -> Int32 {
        // Never through a link that somebody laid, never waiting for the other end of a pipe.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw error(path, errno) }
        return descriptor
    }

    private static func error(_ path: String, _ number: Int32) -> ServiceError {
        ServiceError(.cannotWrite, "\(path) cannot be locked: \(String(cString: strerror(number)))")
    }
}
