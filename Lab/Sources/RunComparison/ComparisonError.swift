/// Why two runs cannot be compared.
public struct ComparisonError: Error, CustomStringConvertible {
    /// What is wrong.
    public var description: String

    /// An error that says this.
    public init(_ description: String) { self.description = description }
}
