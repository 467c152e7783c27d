@preconcurrency import Foundation
import Glibc

/// The whole terminal as a screen, with single keys as input.
///
/// The terminal is restored however the program ends: by `leave()`, or by a waiting shell if the program is killed.
@MainActor
final class TerminalScreen {
    /// The lines of a screen, and the cursor's position; nil if the cursor is hidden.
    struct Drawing: Equatable {
        var lines: [String] = []
        var cursor: (row: Int, column: Int)?

        static func == (left: Drawing, right: Drawing) -> Bool {
            left.lines == right.lines && left.cursor?.row == right.cursor?.row
                && left.cursor?.column == right.cursor?.column
        }
    }

    /// True if standard input and output are a terminal that can move its cursor.
    static var isPossible: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// True if the user wants colors (no-color.org).
    static let hasColor = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

    private let receive: (Key) -> Void
    private let resized: () -> Void
    private var before = termios()
    private var isShown = false
    private var drawn: Drawing?
    private var input: (any DispatchSourceRead)?
    private var signals: [any DispatchSourceSignal] = []
    private var guardian: Pipe?

    /// - Parameters:
    ///   - receive: called with each key.
    ///   - resized: called when everything must be redrawn.
    init(receive: @escaping (Key) -> Void, resized: @escaping () -> Void) {
        self.receive = receive
        self.resized = resized
        tcgetattr(STDIN_FILENO, &before)
    }

    /// The lines and columns of the window.
    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    // MARK: - Showing and leaving

    /// Takes over the terminal.
    ///
    /// - Returns: false if that has already happened.
    @discardableResult
    func enter() -> Bool {
        guard !isShown else { return false }
        // First, before anything is drawn: every end of the program after the first picture must restore the terminal.
        if signals.isEmpty { watch() }
        if guardian == nil { startGuardian() }
        isShown = true
        var raw = before
        // Keys one by one and without echo. Ctrl-C and Ctrl-Z stay signals.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        drawn = nil
        // The terminal's alternate screen, and a hidden cursor.
        write("\u{1B}[?1049h\u{1B}[?25l")
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
        input.setEventHandler { self.read() }
        input.resume()
        self.input = input
        return true
    }

    /// Makes the next drawing a complete one.
    func forget() { drawn = nil }

    /// Restores the terminal. The app can take it over again.
    func leave() {
        guard isShown else { return }
        isShown = false
        input?.cancel()
        input = nil
        write("\u{1B}[?25h\u{1B}[?1049l")
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
    }

    /// Restores the terminal and ends the program.
    func quit(_ status: Int32) -> Never {
        leave()
        // Tells the guardian that the terminal is already restored.
        try? guardian?.fileHandleForWriting.write(contentsOf: Data("done\n".utf8))
        exit(status)
    }

    /// Starts a shell that restores the terminal if this program is killed. The shell waits for a line, which then
    /// never arrives.
    private func startGuardian() {
        let settings = Process()
        let answer = Pipe()
        settings.executableURL = URL(fileURLWithPath: "/bin/sh")
        settings.arguments = ["-c", "stty -g < /dev/tty"]
        settings.standardOutput = answer
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        do {
            try settings.run()
            let saved = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            process.arguments = [
                "-c",
                """
                trap '' INT TERM HUP QUIT TSTP TTOU
                read line || { stty '\(saved)' < /dev/tty; printf '\\033[?25h\\033[?1049l' > /dev/tty; }
                """,
            ]
            process.standardInput = pipe
            process.standardError = FileHandle.nullDevice
            try process.run()
            guardian = pipe
        } catch {
            // Without it, the terminal is not restored after a kill.
            guardian = Pipe()
        }
    }

    /// Watches for signals that end or stop the program, and for a new size of the window.
    private func watch() {
        let registrations = DispatchGroup()
        let queue = DispatchQueue(label: "signals")
        func on(_ number: Int32, _ handle: @escaping @MainActor @Sendable () -> Void) {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { DispatchQueue.main.async(execute: handle) }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            signals.append(source)
        }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { on(number) { self.quit(128 + number) } }
        on(SIGWINCH) {
            self.drawn = nil
            self.resized()
        }
        on(SIGTSTP) {
            // The shell gets a clean terminal, and "fg" brings the screen back.
            let wasShown = self.isShown
            self.leave()
            kill(getpid(), SIGSTOP)
            if wasShown { self.enter() }
            self.resized()
        }
        // A source starts shortly after it was resumed. A signal in between would be lost.
        registrations.wait()
    }

    // MARK: - Drawing

    /// Replaces the shown drawing. Only changed lines are drawn.
    func draw(_ drawing: Drawing) {
        guard isShown, drawing != drawn else { return }
        let rows = size.rows
        // All at once, if the terminal supports synchronized output, so that nothing flickers.
        var text = "\u{1B}[?2026h\u{1B}[?25l"
        for row in 0..<rows {
            let line = row < drawing.lines.count ? drawing.lines[row] : ""
            if let drawn, row < drawn.lines.count ? drawn.lines[row] == line : line.isEmpty { continue }
            text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[0m\u{1B}[K"
        }
        if let cursor = drawing.cursor { text += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h" }
        write(text + "\u{1B}[?2026l")
        drawn = drawing
    }

    private func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // The terminal is gone.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    // MARK: - Keys

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        // The window was closed.
        if count == 0 { quit(0) }
        guard count > 0 else { return }
        for key in Key.keys(in: bytes.prefix(count)) { receive(key) }
    }
}
