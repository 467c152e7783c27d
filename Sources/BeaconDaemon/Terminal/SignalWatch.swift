import BeaconGateway
import BeaconSupport
import CLibrary
import Dispatch

/// The signals to this process.
///
/// SIGTERM and Ctrl-C end it cleanly, the second one at once. SIGHUP makes it read the configuration again. If it was
/// started on a terminal, SIGHUP means that the terminal is gone, and ends it.
final class SignalWatch: Sendable {
    /// A request from outside.
    enum Request: Sendable {
        case end, reload
        /// Use another configuration, which the console made.
        case use(GatewayConfiguration)
    }

    private struct State {
        var endings: [Int32] = []
        var isReloadDue = false
        var wanted: GatewayConfiguration?
    }

    private let state = Locked(State())
    private let signal = AsyncSignal()

    /// Starts to catch the signals.
    func listen() {
        let isOnTerminal = isatty(STDIN_FILENO) == 1
        let registrations = DispatchGroup()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler retains its source, which would be deallocated otherwise. One call can stand for several
                // signals.
                let count = Int(max(source.data, 1))
                let isSecond = state.withLock { state in
                    guard number != SIGHUP || isOnTerminal else {
                        state.isReloadDue = true
                        return false
                    }
                    state.endings += Array(repeating: number, count: count)
                    return state.endings.count > 1
                }
                if isSecond { _exit(128 + number) }
                signal.signal()
            }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
        }
        // A source starts shortly after it was resumed. A signal in between would end the process at once, or be lost
        // for the first process of a container.
        registrations.wait()
    }

    /// Requests another configuration; nil to read the file again.
    func ask(for configuration: GatewayConfiguration?) {
        state.withLock { state in
            if let configuration { state.wanted = configuration } else { state.isReloadDue = true }
        }
        signal.signal()
    }

    /// Returns the next request; nil if the task is cancelled. A request to end is returned every time.
    func next() async -> Request? {
        while !Task.isCancelled {
            let seen = signal.count
            let request: Request? = state.withLock { state in
                if !state.endings.isEmpty { return .end }
                if let wanted = state.wanted {
                    state.wanted = nil
                    return .use(wanted)
                }
                guard state.isReloadDue else { return nil }
                state.isReloadDue = false
                return .reload
            }
            if let request { return request }
            await signal.wait(after: seen)
        }
        return nil
    }

    /// A Boolean value indicating whether the first signal was Ctrl-C. SIGTERM is the usual end of a daemon, not a
    /// failure.
    var wasInterrupted: Bool { state.withLock { $0.endings.first == SIGINT } }
}

/// The end of this process.
enum ProcessEnd {
    /// Flushes the output and ends the process with a status.
    static func exit(_ status: Int32) -> Never {
        LogRepetitions.shared.finish()
        fflush(nil)
        CLibrary.exit(status)
    }
}
