/// Why something cannot be started, and what to do about it.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case notTrusted, notPermitted, noUser
        }

        private let value: Value

        /// Somebody else could have written what says what to start.
        public static let notTrusted = Code(value: .notTrusted)
        /// It would have to be started as another user, which only root may.
        public static let notPermitted = Code(value: .notPermitted)
        /// There is no such user.
        public static let noUser = Code(value: .noUser)
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
