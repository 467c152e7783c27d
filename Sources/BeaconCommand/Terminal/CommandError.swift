/// An error that ends a command: what is wrong, and what to do.
struct CommandError: Error, CustomStringConvertible {
    /// The sentence for the user.
    let description: String

    /// Creates an error that says this.
    init(_ description: String) { self.description = description }
}
