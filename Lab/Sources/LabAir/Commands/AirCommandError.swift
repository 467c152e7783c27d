/// An error in a command from the guest.
struct AirCommandError: Error, CustomStringConvertible {
    /// The error, without a line end.
    var description: String

    init(_ description: String) { self.description = description }
}
