/// Why a source cannot be used, and what to do about it.
public struct SourceError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case noScenario, noTimes
        }

        private let value: Value

        /// There is no such scenario, or it has a mistake.
        public static let noScenario = Code(value: .noScenario)
        /// The source keeps no times, and what was asked for needs them.
        public static let noTimes = Code(value: .noTimes)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, in a sentence or two.
    public var message: String

    /// An error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
