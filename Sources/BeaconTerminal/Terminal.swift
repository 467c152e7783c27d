import CLibrary
import CTerminal

/// A standard stream of this process, which may be a terminal. It is examined once, when it is first used.
package struct Terminal: Sendable {
    /// Standard output.
    package static let output = Terminal(STDOUT_FILENO)

    /// Standard error.
    package static let error = Terminal(STDERR_FILENO)

    /// Opens the null device for each standard stream that is closed. Otherwise one of the program's own files would
    /// get its number, and everything that is written to the stream.
    package static func openClosedStreams() {
        // The system gives the lowest free number.
        for stream in 0...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
    }

    /// True if it is a terminal that can move its cursor.
    package let isInteractive: Bool

    /// True if it is a terminal and its user does not refuse colors (no-color.org).
    package let hasColor: Bool

    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isInteractive = isatty(descriptor) == 1 && Self.environment("TERM") ?? "dumb" != "dumb"
        hasColor = isInteractive && (Self.environment("NO_COLOR") ?? "").isEmpty
    }

    /// Its lines and columns; 24 and 80 if they are unknown.
    package var size: (rows: Int, columns: Int) {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard beacon_terminal_size(descriptor, &rows, &columns) == 0 else { return (24, 80) }
        // A serial console may know one of them.
        return (rows > 0 ? Int(rows) : 24, columns > 0 ? Int(columns) : 80)
    }

    /// Returns the value of a variable of the environment.
    package static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
