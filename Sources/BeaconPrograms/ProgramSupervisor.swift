import BeaconSupport
import CLibrary
import CProcess

/// The process that runs a program for an event, see `beacon_supervisor.c` of `CProcess`.
final class ProgramSupervisor: Sendable {
    private struct State {
        var process: pid_t = 0
        /// The wait status of the process, once it has ended.
        var status: Int32?
        var lines = LineSplitter()
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())
    private let receive: @Sendable (String) -> Void

    /// Starts the process with its arguments, the environment and the folder of a program.
    ///
    /// - Throws: ``ProgramError``. After `exhausted`, another attempt may succeed.
    init(
        _ words: [String], of program: EventProgram, input: [UInt8], output: EventProgram.Output
    ) throws(ProgramError) {
        let hasOutput: Bool
        switch output {
        case .lines(let receive): (self.receive, hasOutput) = (receive, true)
        case .standardError: (receive, hasOutput) = ({ _ in }, false)
        }
        let words: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let environment = program.environment.map { strdup("\($0)=\($1)") } + [nil]
        let owner = Unmanaged.passRetained(self)
        let receiver = beacon_receiver(
            context: owner.toOpaque(),
            receive: { ProgramSupervisor.of($0)?.received(UnsafeRawBufferPointer(start: $1, count: $2)) },
            end: { ProgramSupervisor.of($0, isLast: true)?.ended() })
        // The thread of the receiver waits for the lock, so that it knows the process.
        let error = state.withLock { state in
            input.withUnsafeBytes {
                beacon_start_supervisor(
                    &state.process, words, environment, program.folder, $0.baseAddress, $0.count, hasOutput ? 1 : 0,
                    receiver)
            }
        }
        for text in words + environment { free(text) }
        guard error == 0 else {
            owner.release()
            throw ProgramError(errno: error)
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?, isLast: Bool = false) -> ProgramSupervisor? {
        guard let owner = context.map({ Unmanaged<ProgramSupervisor>.fromOpaque($0) }) else { return nil }
        return isLast ? owner.takeRetainedValue() : owner.takeUnretainedValue()
    }

    /// Sends a signal to the process.
    ///
    /// - Returns: false if it has ended.
    @discardableResult func send(_ signal: Int32) -> Bool {
        state.withLock { state in state.status == nil && kill(state.process, signal) == 0 }
    }

    /// Waits for the end of the process. Call it once.
    ///
    /// - Returns: its wait status.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.status == nil { state.waiting = continuation }
                return state.status != nil
            }
            if isOver { continuation.resume() }
        }
        return state.withLock { $0.status ?? 0 }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.lines.append(bytes, receive: receive) }
    }

    private func ended() {
        let waiting = state.withLock { state in
            state.lines.finish(receive: receive)
            var status: Int32 = 0
            while waitpid(state.process, &status, 0) < 0, errno == EINTR {}
            state.status = status
            return state.waiting
        }
        waiting?.resume()
    }
}
