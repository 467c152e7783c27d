import ArgumentParser
import BeaconSupport
import BeaconTerminal
import CLibrary
import Dispatch
import Foundation

/// The questions at a terminal: on standard error, answered on standard input.
///
/// A signal ends the program at once, with a terminal that shows again what is typed; while something is listened to it
/// ends that first, so that a radio is left as it was.
final class Prompt: Sendable {
    private struct State {
        /// The terminal as it was, while it hides what is typed.
        var terminal: termios?
        /// What ends what is being done; nil where nothing is.
        var interruption: (@Sendable () -> Void)?
        var isInterrupted = false
        /// What to say where it is ended by a signal; empty for nothing.
        var farewell = ""
    }

    /// A Boolean value indicating whether somebody can be asked, and sees it.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// The longest answer, in bytes.
    private static let longestAnswer = 4096

    private let state = Locked(State())

    /// A prompt that listens to signals from now on.
    init() {
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // The handler retains its source, which would be deallocated otherwise.
                _ = source
                let interruption = state.withLock { state in
                    // A second one does not wait for what the first has ended.
                    if state.isInterrupted { return nil as (@Sendable () -> Void)? }
                    state.isInterrupted = true
                    return state.interruption
                }
                if let interruption { return interruption() }
                showTyping()
                // What comes next begins a line.
                ErrorOutput.shared.write("\n" + state.withLock { $0.farewell })
                _exit(128 + number)
            }
            source.resume()
        }
    }

    /// What to say where a signal ends the program; empty for nothing.
    var farewell: String {
        get { state.withLock { $0.farewell } }
        set { state.withLock { $0.farewell = newValue } }
    }

    /// True once somebody wished to end.
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Does something that Ctrl-C ends in good order.
    ///
    /// - Throws: what it throws, and `ExitCode` 130 where it was ended.
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
    /// - Returns: the answer without blanks around it, a secret as it is; nil at the end of the input.
    func ask(_ question: String, isHidden: Bool = false) -> String? {
        // First, so that nothing is shown of what is typed as soon as it is asked for.
        if isHidden { hideTyping() }
        ErrorOutput.shared.writePart(question + " ")
        let line = Self.line()
        if isHidden { showTyping() }
        // What was typed has ended the line, unless nothing of it was shown.
        if isHidden || line == nil { ErrorOutput.shared.write("") }
        guard let line else { return nil }
        return isHidden ? line : line.trimmingCharacters(in: .whitespaces)
    }

    /// Asks a question that is answered by yes or no.
    ///
    /// - Returns: the answer; what holds by default where it is empty, and false at the end of the input.
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
        // Whoever stopped it here would have a shell that shows nothing.
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

    /// Reads a line; nil at the end of the input. One byte at a time, so that nothing is taken that others could read.
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
