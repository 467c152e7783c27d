/// A mistake in a scenario.
public struct ScenarioError: Error, Sendable {
    /// The kind of mistake. More kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformed, tooLarge, unknownKey, missingKey, wrongType, outOfRange, invalidValue, unknownReference
            case duplicateName, conflict, unknownScenario
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The file is not JSON.
        public static let malformed = Code(.malformed)
        /// There is more of something than the simulation takes.
        public static let tooLarge = Code(.tooLarge)
        /// A key that the format does not have; a slip of the pen, most often.
        public static let unknownKey = Code(.unknownKey)
        /// A key is not there and has no default.
        public static let missingKey = Code(.missingKey)
        /// A text where a number should be, for instance.
        public static let wrongType = Code(.wrongType)
        /// A number outside of what makes sense.
        public static let outOfRange = Code(.outOfRange)
        /// A text that does not say what it should, as a UUID with a digit too few.
        public static let invalidValue = Code(.invalidValue)
        /// A person is named whom the scenario does not have.
        public static let unknownReference = Code(.unknownReference)
        /// Two things of one kind have one name.
        public static let duplicateName = Code(.duplicateName)
        /// Two keys that exclude each other.
        public static let conflict = Code(.conflict)
        /// No scenario of that name ships with the package.
        public static let unknownScenario = Code(.unknownScenario)

        /// The name of the code.
        public var description: String { value.rawValue }
    }

    /// The kind of mistake.
    public let code: Code

    /// The place of the mistake, as in `beacons[2].interval`; empty for the file as a whole.
    public let path: String

    /// One sentence, to be read behind the path, that says what is wrong and what to do.
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
