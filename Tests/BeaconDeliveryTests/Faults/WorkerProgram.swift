import BeaconSupport
import Foundation
import Glibc
import TestSupport

/// The program `DeliveryWorker`, built with the tests, as a process that can be killed.
final class WorkerProgram: Sendable {
    private let process: pid_t

    /// Its exit status in the form of wait(2), once it is known.
    private let end = Locked<Int32?>(nil)

    static var path: String { Product.path("DeliveryWorker") }

    /// Starts it.
    init(_ arguments: [String]) throws {
        var process: pid_t = 0
        var pointers: [UnsafeMutablePointer<CChar>?] = ([Self.path] + arguments).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        let code = posix_spawn(&process, Self.path, nil, nil, pointers, environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        self.process = process
    }

    /// Kills it with SIGKILL and waits until it has ended.
    ///
    /// - Returns: Whether it was still running.
    func kill() -> Bool {
        end.withLock { end in
            guard end == nil else { return false }
            Glibc.kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
            end = status
            return status & 0x7F == SIGKILL
        }
    }

    /// Returns its exit status; nil while it runs, -1 if a signal ended it.
    func exitStatus() -> Int32? {
        end.withLock { end in
            if end == nil {
                var status: Int32 = 0
                if waitpid(process, &status, WNOHANG) == process { end = status }
            }
            return end.map { $0 & 0x7F == 0 ? $0 >> 8 & 0xFF : -1 }
        }
    }
}
