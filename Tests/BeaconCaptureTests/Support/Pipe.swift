import Foundation
import Glibc

/// Calls `body` with the path of a FIFO into which a thread writes the pieces.
func withPipe<Outcome>(
    _ pieces: some Sequence<[UInt8]> & Sendable, _ body: (String) throws -> Outcome
) throws -> Outcome {
    // A writer whose reader has closed the pipe gets an error instead of a signal, as in the command-line tools.
    signal(SIGPIPE, SIG_IGN)
    return try withTemporaryFolder { folder in
        let path = folder + "/fifo"
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        Thread.detachNewThread {
            let descriptor = open(path, O_WRONLY)
            defer { close(descriptor) }
            for piece in pieces {
                var written = 0
                while written < piece.count {
                    let count = piece[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { return }
                    written += count
                }
            }
        }
        return try body(path)
    }
}
