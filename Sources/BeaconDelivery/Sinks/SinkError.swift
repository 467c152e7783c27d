/// Why a sink cannot work as it is set up, and what to do about it.
public struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidURL, invalidHeader, invalidSecret, invalidTrustRoots, invalidValue
        }

        private let value: Value

        /// An address cannot be used.
        public static let invalidURL = Code(value: .invalidURL)
        /// A header cannot be sent.
        public static let invalidHeader = Code(value: .invalidHeader)
        /// A secret has the wrong form.
        public static let invalidSecret = Code(value: .invalidSecret)
        /// The file of certificates to trust cannot be used.
        public static let invalidTrustRoots = Code(value: .invalidTrustRoots)
        /// Another value is out of range.
        public static let invalidValue = Code(value: .invalidValue)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, in a sentence or two, without secrets.
    public var message: String

    /// An error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
