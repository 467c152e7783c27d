import CTerminal
import Glibc

/// The terminal on standard output, if there is one.
enum Terminal {
    /// Whether standard output is a terminal that can move its cursor.
    static var isInteractive: Bool {
        isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"
    }

    /// Whether colour is welcome (no-color.org).
    static var hasColor: Bool { isInteractive && (environment("NO_COLOR") ?? "").isEmpty }

    /// Lines and columns; 24 and 80 where they cannot be told.
    static var size: (rows: Int, columns: Int) {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard beacon_terminal_size(STDOUT_FILENO, &rows, &columns) == 0, rows > 0, columns > 0 else { return (24, 80) }
        return (Int(rows), Int(columns))
    }

    /// The value of a variable of the environment.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
