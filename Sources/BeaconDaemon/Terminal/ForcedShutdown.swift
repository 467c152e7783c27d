import BeaconSupport
import Dispatch
import Glibc

/// A forced shutdown by the second SIGINT or SIGTERM: it ends the process at once, while the service group still
/// handles the first.
final class ForcedShutdown: Sendable {
    private let signals = Locked<[Int32]>([])

    /// Begins to count the signals.
    func listen() {
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler retains its source, which would be deallocated otherwise, for as long as the process
                // lives.
                _ = source
                let isSecond = signals.withLock { signals in
                    signals.append(number)
                    return signals.count > 1
                }
                if isSecond { _exit(128 + number) }
            }
            source.resume()
        }
    }

    /// A Boolean value indicating whether the first was Ctrl-C. SIGTERM is the usual end of a daemon and no failure.
    var wasInterrupted: Bool { signals.withLock { $0.first == SIGINT } }
}

/// This process's end.
enum ProcessEnd {
    /// Flushes the output and ends the process with a status.
    static func exit(_ status: Int32) -> Never {
        fflush(nil)
        Glibc.exit(status)
    }
}
