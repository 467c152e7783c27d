import Foundation
import Glibc

/// How many notifications the outbox has acknowledged, in a file. A write survives the process that made it.
final class Progress {
    private let descriptor: Int32

    init(_ file: URL) throws {
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    var count: Int {
        get {
            var value: Int64 = 0
            let read = pread(descriptor, &value, 8, 0)
            return read == 8 ? Int(value) : 0
        }
        set {
            var value = Int64(newValue)
            _ = pwrite(descriptor, &value, 8, 0)
        }
    }
}
