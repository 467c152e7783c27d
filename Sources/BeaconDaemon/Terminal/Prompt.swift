import ArgumentParser
import BeaconSupport
import BeaconTerminal
import CLibrary
import Dispatch
import Foundation

/// The questions at a terminal, on standard error, with answers from standard input.
///
/// A signal ends the program at once, and the terminal shows input again. During an interruptible operation, a signal
/// ends that first, so that a radio is left as it was.
final class Prompt: Sendable {
    private struct State {
        /// The settings of the terminal before input was hidden.
        var terminal: termios?
        /// Ends the current operation; nil without one.
        var interruption: (@Sendable () -> Void)?
        var isInterrupted = false
        /// The message when a signal ends the program; empty for none.
        var farewell = ""
    }

    /// A Boolean value indicating whether a user can see questions and answer them.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// The longest answer, in bytes.
    private static let longestAnswer = 4096

    private let state = Locked(State())

    /// Creates a prompt that catches signals from now on.
    init() {
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler retains its source, which would be deallocated otherwise.
                _ = source
                let interruption = state.withLock { state in
                    // A second signal does not wait for the operation that the first one ended.
                    if state.isInterrupted { return nil as (@Sendable () -> Void)? }
                    state.isInterrupted = true
                    return state.interruption
                }
                if let interruption { return interruption() }
                showTyping()
                // The next output starts on a new line.
                ErrorOutput.shared.write("\n" + state.withLock { $0.farewell })
                _exit(128 + number)
            }
            source.resume()
        }
    }

    /// The message when a signal ends the program; empty for none.
    var farewell: String {
        get { state.withLock { $0.farewell } }
        set { state.withLock { $0.farewell = newValue } }
    }

    /// True after a signal.
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Runs an operation that Ctrl-C ends cleanly.
    ///
    /// - Throws: the error of the operation, and `ExitCode` 130 if it was interrupted.
    func interruptible<Result>(
        by interruption: @escaping @Sendable () -> Void = {}, _ body: () throws -> Result
    ) throws -> Result {
        state.withLock { $0.interruption = interruption }
        defer { state.withLock { $0.interruption = nil } }
        let result = try body()
        if isInterrupted { throw ExitCode(130) }
        return result
    }

    /// Asks for a line.
    ///
    /// - Parameter isHidden: true for a secret, which the terminal does not show.
    /// - Returns: the answer without surrounding blanks, but a secret unchanged; nil at the end of the input.
    func ask(_ question: String, isHidden: Bool = false) -> String? {
        // Before the question, so that no character of the answer is shown.
        if isHidden { hideTyping() }
        ErrorOutput.shared.writePart(question + " ")
        let line = Self.line()
        if isHidden { showTyping() }
        // The user's Enter has ended the line, unless input was hidden.
        if isHidden || line == nil { ErrorOutput.shared.write("") }
        guard let line else { return nil }
        return isHidden ? line : line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Asks a question with the answer yes or no.
    ///
    /// - Returns: the answer; the default if it is empty, and false at the end of the input.
    func agrees(_ question: String, byDefault: Bool) -> Bool {
        while true {
            switch ask("\(question) [\(byDefault ? "Y/n" : "y/N")]")?.lowercased() {
            case nil: return false
            case "": return byDefault
            case "y", "yes": return true
            case "n", "no": return false
            default: ErrorOutput.shared.write("Write y or n.")
            }
        }
    }

    private func hideTyping() {
        var terminal = termios()
        guard tcgetattr(STDIN_FILENO, &terminal) == 0 else { return }
        state.withLock { $0.terminal = terminal }
        // Stopping the program here would leave a shell that shows no input.
        signal(SIGTSTP, SIG_IGN)
        terminal.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal)
    }

    private func showTyping() {
        guard
            var terminal = state.withLock({ state in
                defer { state.terminal = nil }
                return state.terminal
            })
        else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal)
        signal(SIGTSTP, SIG_DFL)
    }

    /// Reads a line, byte by byte, so that the rest of the input is left to others; nil at the end of the input.
    private static func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < longestAnswer {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
