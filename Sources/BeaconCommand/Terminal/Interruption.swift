import BeaconSupport
import CLibrary
import Dispatch
import Synchronization

/// The user's request to stop: SIGINT (Ctrl-C) or SIGTERM.
///
/// Commands check for it between two steps and end cleanly. If a command is stuck, for instance in a read from a pipe,
/// the process ends a short time after the request.
enum Interruption {
    private static let signal = Atomic<Int32>(0)
    private static let waker = Locked<Waker?>(nil)
    private static let longestEnd = Locked<DispatchTimeInterval?>(nil)

    /// How long a command may take to end. An adapter needs a few commands to stop advertising.
    private static var patience: DispatchTimeInterval {
        longestEnd.withLock { $0 } ?? (waker.withLock { $0 == nil } ? .milliseconds(500) : .seconds(3))
    }

    /// Allows the command more time to end, for instance to disconnect from a broker.
    static func allow(seconds: Int) { longestEnd.withLock { $0 = .seconds(seconds) } }

    /// Starts to catch signals.
    ///
    /// Until the signal sources are active, a signal ends the process at once. To wait for them, a registration handler
    /// would have to run on a thread of Dispatch's pool. From then on Dispatch checks the pool once a second, and a
    /// process that waits for a beacon would wake up twice as often.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            // A shell's background processes ignore Ctrl-C. Without this line, a Ctrl-C before the source is active
            // would be lost.
            CLibrary.signal(number, SIG_DFL)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler retains its source, which would be deallocated otherwise.
                _ = source
                if Self.signal.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
                waker.withLock { $0 }?.wake()
                DispatchQueue.global().asyncAfter(deadline: .now() + patience) { _exit(128 + number) }
            }
            source.resume()
        }
    }

    /// Sets the waker that ends a wait for an adapter when the user requests to stop.
    static func wake(_ new: Waker?) { waker.withLock { $0 = new } }

    /// A Boolean value that indicates whether the user has requested to stop.
    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// The exit status of an interrupted command: 130 for Ctrl-C.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
