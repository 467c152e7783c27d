/// The output of one run, with the start of its scenario.
public struct Run: Sendable {
    /// The name of the run in errors.
    public var name: String

    /// The lines of JSON.
    public var text: String

    /// The start of the scenario, in seconds since 1970.
    public var start: Double

    /// Creates a run from its parts.
    public init(name: String, text: String, start: Double) {
        self.name = name
        self.text = text
        self.start = start
    }
}
