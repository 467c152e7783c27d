import Glibc

/// A failed operation, with the system's reason.
struct SocketError: Error, CustomStringConvertible {
    /// The failure, for the terminal.
    var description: String

    init(_ message: String, _ number: Int32? = nil) {
        guard let number else {
            description = message
            return
        }
        description = "\(message): \(String(cString: strerror(number)))"
    }
}
