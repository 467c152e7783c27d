/// An error in a scenario.
public struct ScenarioError: Error, Sendable {
    /// The kind of error. Future versions may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformed, tooLarge, unknownKey, missingKey, wrongType, outOfRange, invalidValue, unknownReference
            case duplicateName, conflict, unknownScenario
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The file is not JSON.
        public static let malformed = Code(.malformed)
        /// There is more of something than the simulation permits.
        public static let tooLarge = Code(.tooLarge)
        /// A key that the format does not have, most often a typing error.
        public static let unknownKey = Code(.unknownKey)
        /// A key without a default is missing.
        public static let missingKey = Code(.missingKey)
        /// A value has the wrong type, for instance a text instead of a number.
        public static let wrongType = Code(.wrongType)
        /// A number is outside of its range.
        public static let outOfRange = Code(.outOfRange)
        /// A text has the wrong form, for instance a UUID with a digit too few.
        public static let invalidValue = Code(.invalidValue)
        /// The scenario has no person with this name.
        public static let unknownReference = Code(.unknownReference)
        /// Two things of one kind have the same name.
        public static let duplicateName = Code(.duplicateName)
        /// Two keys that exclude each other.
        public static let conflict = Code(.conflict)
        /// No scenario of that name ships with the package.
        public static let unknownScenario = Code(.unknownScenario)

        /// The name of the code.
        public var description: String { value.rawValue }
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
