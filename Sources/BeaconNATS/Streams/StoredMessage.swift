package import Foundation

/// A message that a stream holds.
package struct StoredMessage: Hashable, Sendable {
    /// Its position in the stream, counted from 1.
    package var sequence: UInt64

    /// The subject that it was published to.
    package var subject: String

    /// The content.
    package var payload: [UInt8]

    /// The id that the writer set (`Nats-Msg-Id`).
    package var id: String?

    /// When the server stored it.
    package var time: Date?

    /// The operation on a key, if this message is not a value.
    var operation: String?

    /// Whether the message marks the removal of a key (NATS ADR-8).
    var isRemoval: Bool { operation == "DEL" || operation == "PURGE" }

    /// Creates a message from a server's answer; nil if the answer is damaged.
    init?(_ answer: MessageAnswer.Message) {
        sequence = answer.seq
        subject = answer.subject
        // For a message without a payload the server omits the field.
        guard let payload = Data(base64Encoded: answer.data ?? ""),
            let headers = Data(base64Encoded: answer.hdrs ?? "")
        else { return nil }
        self.payload = Array(payload)
        for line in String(decoding: headers, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            switch line[..<colon].lowercased() {
            case "nats-msg-id": id = value
            case "kv-operation": operation = value
            default: continue
            }
        }
        time = answer.time.flatMap(Self.date)
    }

    /// Returns the date of a text such as `2026-01-02T03:04:05.123456789Z`.
    private static func date(_ text: String) -> Date? {
        // The parser accepts at most three fractional digits.
        let seconds = text.prefix { $0 != "." && $0 != "Z" }
        guard let date = try? Date(seconds + "Z", strategy: .iso8601) else { return nil }
        let fraction = text.dropFirst(seconds.count).prefix { $0 != "Z" }
        return date + (Double("0" + fraction) ?? 0)
    }
}
