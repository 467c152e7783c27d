/// An error in a scenario.
public struct ScenarioError: Error, Sendable {
    /// The kind of error.
    public enum Code: Sendable {
        case malformed, tooLarge, unknownKey, missingKey, wrongType, outOfRange, invalidValue, unknownReference
        case duplicateName, conflict, unknownScenario
    }

    /// The kind of error.
    public let code: Code

    /// The place of the error, as in `beacons[2].interval`; empty for the whole file.
    public let path: String

    /// A sentence to read after the path, with the error and its remedy.
    public let message: String

    /// The error that led to this one, if any.
    public let cause: (any Error)?

    init(_ code: Code, at path: String, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.path = path
        self.message = message
        self.cause = cause
    }
}

extension ScenarioError: CustomStringConvertible {
    /// Path and message.
    public var description: String { path.isEmpty ? "The scenario \(message)" : "\(path) \(message)" }
}
