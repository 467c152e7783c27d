import BeaconSupport
import CLibrary
import Logging

/// The thread that maintains a connection to a broker. It makes all blocking calls and all calls of libmosquitto.
struct ConnectionThread: Sendable {
    let options: MQTTSettings
    let requests: RequestTable
    let logger: Logger
    /// The availability that each connection announces first.
    var firstAvailability = Availability.online

    /// Starts the thread, which ends once the request table is closed.
    ///
    /// - Returns: `false` if the system cannot create another thread.
    func start() -> Bool {
        let context = Unmanaged.passRetained(Box(self))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().thread.main() }
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private final class Box {
        let thread: ConnectionThread
        init(_ thread: ConnectionThread) { self.thread = thread }
    }

    private func main() {
        // Writing to a connection that the broker closed raises SIGPIPE, which libmosquitto does not prevent (it calls
        // write(2)). Other threads handle the process's signals.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        var loop = ConnectionLoop(
            options: options, requests: requests, logger: logger, firstAvailability: firstAvailability)
        loop.run()
        requests.finish()
    }
}

extension Duration {
    /// The duration in whole milliseconds for `poll`. It is rounded up, so that the thread does not spin for a fraction
    /// of one, and never negative.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + fraction)
    }
}
