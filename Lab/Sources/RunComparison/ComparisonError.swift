/// The reason why two runs cannot be compared.
public struct ComparisonError: Error, CustomStringConvertible {
    /// The reason.
    public var description: String

    /// Creates an error with this description.
    public init(_ description: String) { self.description = description }
}
