import Glibc

/// What the system refused, and why.
struct SocketError: Error, CustomStringConvertible {
    /// What went wrong, for the terminal.
    var description: String

    init(_ what: String, _ number: Int32? = nil) {
        guard let number else {
            description = what
            return
        }
        description = "\(what): \(String(cString: strerror(number)))"
    }
}
