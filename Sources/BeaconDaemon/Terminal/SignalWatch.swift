import BeaconGateway
import BeaconSupport
import CLibrary
import Dispatch

/// The signals to this process: SIGTERM and Ctrl-C end it in good order, the second one at once, and SIGHUP has the
/// configuration read again; where it was started on a terminal, that is gone with SIGHUP, which ends it.
final class SignalWatch: Sendable {
    /// A request of somebody outside.
    enum Request: Sendable {
        case end, reload
        /// Another configuration is to be used, which the console made.
        case use(GatewayConfiguration)
    }

    private struct State {
        var endings: [Int32] = []
        var isReloadDue = false
        var wanted: GatewayConfiguration?
    }

    private let state = Locked(State())
    private let signal = AsyncSignal()

    /// Begins to receive the signals.
    func listen() {
        let isOnTerminal = isatty(STDIN_FILENO) == 1
        let registrations = DispatchGroup()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler retains its source, which would be deallocated otherwise, for as long as the process
                // lives. It may be called once for several.
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
        // A source begins a moment after it was resumed: a signal in between would end the process at once, or, to the
        // first process of a container, be lost.
        registrations.wait()
    }

    /// Takes in what the console wants: that the file is read again, or that another configuration is used.
    func ask(for configuration: GatewayConfiguration?) {
        state.withLock { state in
            if let configuration { state.wanted = configuration } else { state.isReloadDue = true }
        }
        signal.signal()
    }

    /// Waits for the next request; nil where the task is cancelled. That of an end is returned again and again.
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

    /// A Boolean value indicating whether the first was Ctrl-C. SIGTERM is the usual end of a daemon and no failure.
    var wasInterrupted: Bool { state.withLock { $0.endings.first == SIGINT } }
}

/// This process's end.
enum ProcessEnd {
    /// Flushes the output and ends the process with a status.
    static func exit(_ status: Int32) -> Never {
        LogRepetitions.shared.finish()
        fflush(nil)
        CLibrary.exit(status)
    }
}
