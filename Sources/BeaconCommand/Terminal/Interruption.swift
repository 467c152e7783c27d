import BeaconSupport
import CLibrary
import Dispatch
import Synchronization

/// The user's request to stop: SIGINT (Ctrl-C) or SIGTERM.
///
/// Commands check for it between two steps and end in good order. If one is stuck, in a read from a pipe for instance,
/// the process ends a while after the request.
enum Interruption {
    private static let signal = Atomic<Int32>(0)
    private static let waker = Locked<Waker?>(nil)
    private static let longestEnd = Locked<DispatchTimeInterval?>(nil)

    /// The time that a command may take to end. An adapter needs a few commands to stop advertising.
    private static var patience: DispatchTimeInterval {
        longestEnd.withLock { $0 } ?? (waker.withLock { $0 == nil } ? .milliseconds(500) : .seconds(3))
    }

    /// Allows the command more time to end, for one that has to take leave of others.
    static func allow(seconds: Int) { longestEnd.withLock { $0 = .seconds(seconds) } }

    /// Starts to catch signals. Before, and for the moment until the sources have begun, a signal ends the process at
    /// once.
    ///
    /// Nothing waits for that moment: a registration handler would run on a thread of Dispatch's pool, which from then
    /// on is checked once a second, and a process that waits for a beacon would wake twice as often.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            // A shell has what it starts in the background ignore Ctrl-C: without this, one of that moment would be
            // lost.
            CLibrary.signal(number, SIG_DFL)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler retains its source, which would be deallocated otherwise, for as long as the process
                // lives.
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
