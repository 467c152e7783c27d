import BeaconRadio
import BeaconService
import Dispatch
import Glibc

/// Counts the user's wishes to stop, beside the service group that heeds the first: the second ends the process at once.
final class ImpatientSignals: Sendable {
    private let heard = Locked<[Int32]>([])

    /// Begins to listen.
    func listen() {
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler keeps its source, which would go otherwise, for as long as the process lives.
                _ = source
                let isSecond = heard.withLock { heard in
                    heard.append(number)
                    return heard.count > 1
                }
                if isSecond { _exit(128 + number) }
            }
            source.resume()
        }
    }

    /// Whether the first was Ctrl-C. A polite kill (SIGTERM) is how daemons are ended, and no failure.
    var wasInterrupted: Bool { heard.withLock { $0.first == SIGINT } }
}
