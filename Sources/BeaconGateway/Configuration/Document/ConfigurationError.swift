/// Why a configuration cannot be used: all that is wrong with it.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case cannotRead, mistakes
        }

        private let value: Value

        /// The file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file was read, and has mistakes.
        public static let mistakes = Code(value: .mistakes)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, a line for each mistake.
    public var message: String

    /// The mistakes, in the order of the file.
    public var mistakes: [Mistake]

    /// What led to it.
    public var cause: (any Error)?

    /// An error from its parts.
    public init(_ code: Code, _ message: String, mistakes: [Mistake] = [], cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.mistakes = mistakes
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
