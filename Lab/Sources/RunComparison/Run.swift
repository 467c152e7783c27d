/// What one run wrote, and when its scenario began.
public struct Run: Sendable {
    /// What it is called in errors.
    public var name: String

    /// Lines of JSON.
    public var text: String

    /// When the scenario began, in seconds since 1970.
    public var start: Double

    /// A run from its parts.
    public init(name: String, text: String, start: Double) {
        self.name = name
        self.text = text
        self.start = start
    }
}
