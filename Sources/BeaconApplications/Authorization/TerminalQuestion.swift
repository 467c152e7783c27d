import BeaconSupport
import CLibrary
import Foundation

/// A question to the user in the application's terminal, and the wait for the answer.
///
/// The question waits on its own thread and reads lines from the terminal while it is shown. It does not use a terminal
/// that a full-screen program controls, or in which the application runs in the background.
final class TerminalQuestion: Sendable {
    /// An answer to the question.
    private struct Choice {
        var letter: Character
        var text: String
        var status: AuthorizationStatus
    }

    private let terminal: Int32
    private let title: String
    private let reason: String?
    private let choices: [Choice]
    private let withdrawal = Locked<String?>(nil)
    private let waker = Waker()

    /// True if a user is at this process: its standard input is a terminal.
    static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// True if the question is shown at once. Otherwise it is shown as soon as the process runs in the foreground of a
    /// terminal that no program reads single keys from.
    var isShownAtOnce: Bool { Self.mayRead(terminal) }

    /// Creates a question about a request; nil if the terminal cannot be opened.
    ///
    /// - Parameters:
    ///   - name: the application's name.
    ///   - request: the requested permission.
    ///   - status: the present status.
    ///   - reason: the application's reason.
    init?(of name: String, asking request: AuthorizationRequest, from status: AuthorizationStatus, reason: String?) {
        // Non-blocking: another process may read the available line first, and a blocking read could not be
        // interrupted.
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard terminal >= 0 else { return nil }
        self.terminal = terminal
        self.reason = reason?.printable
        let name = name.printable
        let whileItRuns = Choice(letter: "y", text: "yes, while it runs", status: .whenInUse)
        let always = Choice(letter: "a", text: "always, and start it for beacons", status: .always)
        switch (request, status) {
        case (.whenInUse, _):
            title = "\"\(name)\" asks to detect nearby beacons while it runs."
            choices = [whileItRuns, Choice(letter: "n", text: "no", status: .denied)]
        case (.always, .whenInUse):
            title = "\"\(name)\" may detect nearby beacons while it runs, and asks to detect them at any time."
            choices = [always, Choice(letter: "n", text: "no, while it runs only", status: .whenInUse)]
        case (.always, _):
            title = "\"\(name)\" asks to detect nearby beacons at any time."
            choices = [always, whileItRuns, Choice(letter: "n", text: "no", status: .denied)]
        }
    }

    deinit { close(terminal) }

    /// Shows the question, and waits for the answer on a separate thread.
    ///
    /// - Parameter answer: called once with the user's decision; not called if the question is withdrawn or the
    ///   terminal is closed.
    func ask(_ answer: @escaping @Sendable (AuthorizationStatus) -> Void) {
        let thread = Thread {
            if let status = self.read() { answer(status) }
        }
        thread.name = "beacon question"
        thread.start()
    }

    /// Withdraws the question because it was answered elsewhere.
    ///
    /// - Parameter outcome: the text that the user sees.
    func withdraw(_ outcome: String) {
        withdrawal.withLock { $0 = $0 ?? outcome }
        waker.wake()
    }

    // MARK: - The thread

    /// Reads lines until one is a valid answer; returns nil if the wait ends without an answer.
    private func read() -> AuthorizationStatus? {
        let prompt = choices.map { "[\($0.letter)] \($0.text)" }.joined(separator: "   ") + " > "
        var isShown = false
        var line: [UInt8] = []
        while true {
            if let outcome = withdrawal.withLock({ $0 }) {
                if isShown { write("\n\(outcome)\n") }
                return nil
            }
            // Input for another program is not read; the terminal is checked again after a while.
            let mayRead = Self.mayRead(terminal)
            if mayRead, !isShown {
                isShown = true
                // Input from before the question is not an answer.
                tcflush(terminal, TCIFLUSH)
                write("\n\(title)\n" + (reason.map { "  \($0)\n" } ?? "") + prompt)
            }
            var waited = [
                pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: mayRead ? terminal : -1, events: Int16(POLLIN), revents: 0),
            ]
            poll(&waited, 2, mayRead && waker.descriptor >= 0 ? -1 : 500)
            waker.reset()
            guard waited[1].revents != 0, Self.mayRead(terminal) else { continue }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = CLibrary.read(terminal, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                write("\nNot answered yet; use \"beacon authorization\" to answer.\n")
                return nil
            }
            line += bytes.prefix(count)
            guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let word = String(decoding: line[..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
            line.removeAll()
            if let choice = choices.first(where: { $0.text.hasPrefix(word) && word.first == $0.letter }) {
                return choice.status
            }
            write(prompt)
        }
    }

    private func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { CLibrary.write(terminal, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            if written < 0, errno == EAGAIN {
                // A stopped terminal (Ctrl-S) accepts the text later, or never.
                var waited = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
                guard poll(&waited, 1, 5000) > 0 else { return }
                continue
            }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    /// Returns true if the process runs in the foreground of the terminal, which is in line mode. Reading from the
    /// background would stop the process (SIGTTIN).
    private static func mayRead(_ terminal: Int32) -> Bool {
        var settings = termios()
        guard tcgetpgrp(terminal) == getpgrp(), tcgetattr(terminal, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ICANON) != 0
    }
}
