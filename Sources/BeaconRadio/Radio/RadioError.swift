/// Why a radio did not do what it was asked to, and what to do about it.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case unsupported, notPermitted, failed
        }

        private let value: Value

        /// The radio cannot do it.
        public static let unsupported = Code(value: .unsupported)
        /// This process may not do it.
        public static let notPermitted = Code(value: .notPermitted)
        /// It was tried and did not work.
        public static let failed = Code(value: .failed)
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
