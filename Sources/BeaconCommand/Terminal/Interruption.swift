import BeaconRadio
import Dispatch
import Glibc
import LinuxRadio
import Synchronization

/// The user's wish to stop: Ctrl-C, or a polite kill.
///
/// Commands ask between two steps and end in good order. If one is stuck, in a read from a pipe for instance, the process
/// ends a while after the wish.
enum Interruption {
    private static let signal = Atomic<Int32>(0)
    private static let waker = Locked<Waker?>(nil)

    /// How long a command may take to end. Taking a radio's adverts back needs a few answers of the controller.
    private static var patience: DispatchTimeInterval {
        waker.withLock { $0 == nil } ? .milliseconds(500) : .seconds(3)
    }

    /// Begins to listen. Before, a signal ends the process at once.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            Glibc.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler keeps its source, which would go otherwise, for as long as the process lives.
                _ = source
                if Self.signal.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
                waker.withLock { $0 }?.wake()
                DispatchQueue.global().asyncAfter(deadline: .now() + patience) { _exit(128 + number) }
            }
            source.resume()
        }
    }

    /// Wakes whoever waits for a radio when the user wishes to stop.
    static func wake(_ new: Waker?) { waker.withLock { $0 = new } }

    /// Whether the user wishes to stop.
    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// The exit status that tells of it: 130 for Ctrl-C.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
