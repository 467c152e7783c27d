/// An error that ends a command, with its cause and remedy.
struct CommandError: Error, CustomStringConvertible {
    /// The sentence for the user.
    let description: String

    /// Creates an error with a description.
    init(_ description: String) { self.description = description }
}
