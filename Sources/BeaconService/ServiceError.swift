/// Why the service could not do something, and what to do about it.
public struct ServiceError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case cannotRead, cannotWrite, damagedState, decidedByAdministrator
        }

        private let value: Value

        /// A file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// A file cannot be written.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// A file holds something that it should not.
        public static let damagedState = Code(value: .damagedState)
        /// An administrator decided what was to be changed.
        public static let decidedByAdministrator = Code(value: .decidedByAdministrator)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, in a sentence or two.
    public var message: String

    /// What led to it.
    public var cause: (any Error)?

    /// An error from its parts.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
