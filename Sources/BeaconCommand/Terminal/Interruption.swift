import Dispatch
import Glibc
import Synchronization

/// The user's wish to stop: Ctrl-C, or a polite kill.
///
/// Commands ask between two steps and end in good order. If one is stuck, in a read from a pipe for instance, the process
/// ends half a second after the wish.
enum Interruption {
    private static let signal = Atomic<Int32>(0)

    /// Begins to listen. Before, a signal ends the process at once.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            Glibc.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler keeps its source, which would go otherwise, for as long as the process lives.
                _ = source
                if Self.signal.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { _exit(128 + number) }
            }
            source.resume()
        }
    }

    /// Whether the user wishes to stop.
    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// The exit status that tells of it: 130 for Ctrl-C.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
