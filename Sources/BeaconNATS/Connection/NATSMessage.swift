/// A received message.
package struct NATSMessage: Hashable, Sendable {
    /// The subject that it was published to.
    package var subject: String

    /// The content.
    package var payload: [UInt8]

    /// The headers. If a name occurs more than once, its first value.
    package var headers: [String: String]

    /// The subject for an answer; nil if the sender expects none.
    package var reply: String?
}
