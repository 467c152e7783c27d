import BeaconConfiguration
import Foundation

/// The message of a rule to the install that sent the event.
///
/// Its texts can contain the placeholders `{beacon}`, `{region}`, `{place}`, `{user}` and `{event}`.
public struct RuleMessage: Hashable, Sendable, Codable {
    /// The longest text, in characters.
    package static let longest = 1_000

    /// The heading; nil for none.
    public var title: String?
    /// The text.
    public var text: String
    /// An address to open; nil for none.
    public var url: String?

    /// Creates a message from its parts.
    public init(title: String? = nil, text: String, url: String? = nil) {
        self.title = title
        self.text = text
        self.url = url
    }

    /// Returns the message with values in place of its placeholders. Those in the address are percent-encoded.
    func filled(_ values: [String: String]) -> RuleMessage {
        func fill(_ text: String, _ values: [String: String]) -> String {
            var filled = ""
            var rest = text[...]
            // Values are not expanded again, so that a user's name cannot contain a placeholder.
            while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
                filled += rest[..<open]
                let key = String(rest[rest.index(after: open)..<close])
                filled += values[key] ?? String(rest[open...close])
                rest = rest[rest.index(after: close)...]
            }
            return filled + rest
        }
        // A user name must not add parameters or a path.
        let encoded = values.mapValues { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
        return RuleMessage(
            title: title.map { fill($0, values) }, text: fill(text, values), url: url.map { fill($0, encoded) })
    }

    /// The characters that an address needs no encoding for (RFC 3986, 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension RuleMessage {
    /// The keys of a message.
    static let grammar = Grammar<Self>(
        RuleMessage(text: ""),
        [
            Setting("title", \.title, .text(0...200, "write a text of at most 200 characters"), "The heading."),
            Setting("text", \.text, text, required: "write the text of the message", "The text of the message."),
            Setting(
                "url", \.url, .text(0...2_000, "write an address of at most 2000 characters"), title: "Address to open",
                "An address to open."),
        ])

    fileprivate static let text = SettingKind<String>.text(
        1...longest, "write a text of at most \(longest) characters")
}

extension SettingKind<RuleMessage> {
    /// A text, or a mapping.
    static let ruleMessage = SettingKind(
        .either([RuleMessage.text.shape, RuleMessage.grammar.shape])
    ) { section, key in
        guard section.has(key) else {
            _ = section.value(key)
            return nil
        }
        if section.value(key)?.scalarText != nil {
            return section.read(key, RuleMessage.text).map { RuleMessage(text: $0) }
        }
        return RuleMessage.grammar.read(section.section(key))
    }
}
