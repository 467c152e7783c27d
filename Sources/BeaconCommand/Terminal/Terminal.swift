import BeaconModel
import CLibrary
import CTerminal

/// The terminal on standard output, if there is one.
enum Terminal {
    /// A Boolean value that indicates whether standard output is a terminal that can move its cursor.
    static var isInteractive: Bool {
        isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"
    }

    /// A Boolean value that indicates whether colour is welcome (no-color.org).
    static var hasColor: Bool { isInteractive && (environment("NO_COLOR") ?? "").isEmpty }

    /// Lines and columns; 24 and 80 where they are unknown.
    static var size: (rows: Int, columns: Int) {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard beacon_terminal_size(STDOUT_FILENO, &rows, &columns) == 0, rows > 0, columns > 0 else { return (24, 80) }
        return (Int(rows), Int(columns))
    }

    /// Returns the value of a variable of the environment.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// What a terminal shows while it changes: the newest lines stand where those before stood, without a flicker.
struct LiveScreen {
    private var hasDrawn = false

    /// Writes lines over those before; what does not fit is counted in the last one.
    mutating func append(_ lines: [String], to buffer: inout [UInt8]) {
        var lines = lines
        let rows = Terminal.size.rows - 1
        if lines.count > rows, rows > 2 {
            let hidden = lines.count - rows + 1
            lines = Array(lines.prefix(rows - 1)) + ["… \(hidden) more lines; a taller window shows them"]
        }
        buffer.append(contentsOf: (hasDrawn ? "\u{1B}[H" : "\u{1B}[2J\u{1B}[H").utf8)
        for line in lines { buffer.append(contentsOf: (line + "\u{1B}[K\n").utf8) }
        buffer.append(contentsOf: "\u{1B}[J".utf8)
        hasDrawn = true
    }
}

/// Standard error, for everything that is not a result.
enum StandardError {
    /// A Boolean value that indicates whether standard error is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line.
    static func write(_ line: String) { writeRaw(line + "\n") }

    /// Writes text as it stands, without an end of line, at once.
    static func writeRaw(_ text: String) {
        var text = text
        // There is nowhere to report that standard error cannot be written.
        text.withUTF8 { _ = CLibrary.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The progress of a long replay, shown on standard error where that is a terminal and the results are not.
struct Progress {
    private let isShown: Bool
    private let start: Int64
    private var next: Int64
    private var steps = 0
    private var hasShown = false

    /// The number of records between two looks at the clock, which cost more than a record.
    private static let stride = 4096

    /// - Parameter isWanted: whether results do not themselves show how far it is.
    init(isWanted: Bool) {
        isShown = isWanted && StandardError.isTerminal
        start = Self.now()
        // What is over within a second needs no progress.
        next = start + 1_000_000_000
    }

    /// Counts a record, and now and then shows where things stand.
    mutating func step(packets: Int, time: Timestamp?) {
        guard isShown else { return }
        steps += 1
        guard steps % Self.stride == 0 else { return }
        let now = Self.now()
        guard now >= next else { return }
        next = now + 500_000_000
        hasShown = true
        let rate = Double(packets) / (Double(now - start) / 1e9)
        var text = "\r\u{1B}[K\(packets) packets, \(Int(rate / 1000)) 000 a second"
        if let time { text += ", at \(ClockText.dateAndTime(time))" }
        StandardError.writeRaw(text)
    }

    /// Takes the line away.
    func clear() {
        if hasShown { StandardError.writeRaw("\r\u{1B}[K") }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
