/// What is wrong with a line from the guest.
struct AirCommandError: Error, CustomStringConvertible {
    /// What is wrong, without an end of line.
    var description: String

    init(_ description: String) { self.description = description }
}
