/// A place in a file: its line and column, both counted from one.
public struct Place: Hashable, Sendable, Comparable {
    /// The line.
    public var line: Int

    /// The column, in characters as Unicode counts them (scalars).
    public var column: Int

    /// A place from its line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether a place comes before another in the file.
    public static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
