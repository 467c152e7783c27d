import Foundation
import Glibc

/// The right of one process to deliver from a file: a lock on a file beside it, which the system takes back when the
/// process ends, however it ends (flock(2)).
final class OutboxLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `inUse` where somebody has it, `cannotOpen` where the file beside cannot be made.
    init(for file: URL) throws(OutboxError) {
        let path = file.path + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw OutboxError(
                .cannotOpen,
                "\(path) cannot be made: \(String(cString: strerror(errno))). Check that the folder exists and that this "
                    + "user may write there")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.holder(descriptor)
            // The descriptor is closed by `deinit`, which runs for an object that is complete, and not twice: its number may
            // be somebody else's by then.
            throw OutboxError(
                .inUse,
                "\(file.path) is in use by \(holder). Two at a time would deliver everything twice; end the other, or "
                    + "give this one a file of its own")
        }
        ftruncate(descriptor, 0)
        let text = "\(getpid())\n"
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit {
        // Closing alone would leave it to a child of this process that has been forked and not run its program yet.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        guard let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return "another process" }
        return pid == getpid() ? "another part of this process" : "process \(pid)"
    }
}
