/// A message that arrived.
package struct NATSMessage: Hashable, Sendable {
    /// The subject that it was published to.
    package var subject: String

    /// What it says.
    package var payload: [UInt8]

    /// The headers; of several with one name the first.
    package var headers: [String: String]

    /// The subject that an answer is expected at; nil where none is.
    package var reply: String?

    /// A message from its parts.
    package init(subject: String, payload: [UInt8], headers: [String: String] = [:], reply: String? = nil) {
        self.subject = subject
        self.payload = payload
        self.headers = headers
        self.reply = reply
    }
}
