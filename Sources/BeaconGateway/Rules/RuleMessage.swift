import BeaconConfiguration
import Yams

/// The message of a rule to the install whose event it is about.
///
/// In its texts `{beacon}`, `{region}`, `{place}`, `{user}` and `{event}` stand for the event's.
public struct RuleMessage: Hashable, Sendable, Codable {
    /// The longest text, in characters.
    package static let longest = 1_000

    /// The heading; nil for none.
    public var title: String?
    /// What is said.
    public var text: String
    /// An address to open; nil for none.
    public var url: String?

    /// Creates a message from its parts.
    public init(title: String? = nil, text: String, url: String? = nil) {
        self.title = title
        self.text = text
        self.url = url
    }

    /// Returns the message with words in place of what stands for them.
    func filled(_ words: [String: String]) -> RuleMessage {
        func fill(_ text: String) -> String {
            var filled = ""
            var rest = text[...]
            // What a name holds is not looked at again, so that nobody's name can stand for another's.
            while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
                filled += rest[..<open]
                let key = String(rest[rest.index(after: open)..<close])
                filled += words[key] ?? String(rest[open...close])
                rest = rest[rest.index(after: close)...]
            }
            return filled + rest
        }
        return RuleMessage(title: title.map(fill), text: fill(text), url: url.map(fill))
    }
}

extension RuleMessage {
    /// Reads the key `message` of a rule: a text, or a mapping; nil where there is none.
    static func read(_ rule: ConfigurationSection) -> RuleMessage? {
        guard rule.has("message") else { return nil }
        if case .scalar? = rule.node("message") as Node? {
            return rule.value("message", "write a text of at most \(longest) characters", isText).map {
                RuleMessage(text: $0.value)
            }
        }
        let section = rule.section("message")
        defer { section.finish() }
        let title = section.value("title", "write a text of at most 200 characters") { $0.count <= 200 ? $0 : nil }
        let text = section.value("text", "write a text of at most \(longest) characters", isText)
        let url = section.value("url", "write an address of at most 2000 characters") { $0.count <= 2_000 ? $0 : nil }
        guard let text else {
            if !section.has("text") { section.reportMissing("text", "write what the message says") }
            return nil
        }
        return RuleMessage(title: title?.value, text: text.value, url: url?.value)
    }

    private static func isText(_ text: String) -> String? { text.isEmpty || text.count > longest ? nil : text }
}
