import BeaconConfiguration
package import BeaconDelivery
import BeaconModel

/// The settings of a source or a destination that a user entered: passwords and keys in them become secrets, so that
/// the item has only references.
package struct ConnectionInput: Sendable {
    /// The item.
    package let item: ConfigurationItem
    /// The entered secrets, by their names.
    package private(set) var secrets: [String: Secret] = [:]
    /// The faults of keys that only the file may have.
    package private(set) var faults: [ConfigurationItem.Fault] = []

    /// The paths of keys whose values are secrets.
    private static let places: [ConfigurationItem.Kind: [[String]]] = [
        .source: [["mqtt", "password"], ["esphome", "key"], ["http", "token"]],
        .destination: [
            ["password"], ["secret"], ["api-key"], ["secret-key"], ["headers", "Authorization"],
            ["headers", "authorization"],
        ],
    ]

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - entered: the item as it was entered.
    ///   - former: the item that it replaces; nil for none. References to variables and files are kept from it.
    ///   - configuration: the configuration in use.
    package init(
        _ entered: ConfigurationItem, replacing former: ConfigurationItem?, in configuration: GatewayConfiguration
    ) {
        let known = Set(former?.settings.references() ?? [])
        let stored = StoredSecrets(besideStore: configuration.outbox.path)
        var settings = entered.settings
        var secrets: [String: Secret] = [:]
        for path in Self.places[entered.kind] ?? [] {
            guard case .string(let text)? = settings.value(at: path[...]), let key = path.last else { continue }
            guard !text.isEmpty else {
                settings.set(nil, at: path[...])
                continue
            }
            let base = Self.name([entered.kind.rawValue, entered.name, key])
            let name =
                ([base] + (2...999).map { "\(base)-\($0)" }).first { [secrets] name in
                    known.contains(SecretReference(key: "secret", value: name))
                        || secrets[name] == nil && !stored.has(name)
                } ?? base
            secrets[name] = Secret(text)
            settings.set(.object(["secret": .string(name)]), at: path[...])
        }
        for reference in Set(settings.references(["env", "file"])).subtracting(known) {
            faults.append(
                .init(
                    key: "",
                    message: "only items of the file may refer to \(reference.value); enter the secret here instead"))
        }
        if entered.kind == .source, let from = settings.value(at: ["from"])?.scalarText,
            from != former?.settings.value(at: ["from"])?.scalarText
        {
            do {
                try GuidedStart.validate(source: from)
            } catch {
                faults.append(.init(key: "from", message: "\"from\" is \"\(from)\": \(error)"))
            }
        }
        self.secrets = secrets
        item = ConfigurationItem(kind: entered.kind, name: entered.name, settings: settings, origin: .console)
    }

    /// The beginning of the names of secrets in items of a kind.
    static func prefix(of kind: ConfigurationItem.Kind) -> String { kind.rawValue + "-" }

    /// Returns a name for a secret, made from words.
    private static func name(_ words: [String]) -> String {
        let text = words.joined(separator: "-").lowercased().map { character in
            character.isASCII && (character.isLetter || character.isNumber) ? character : "-"
        }
        return String(String(text).prefix(90))
    }
}

extension JSONValue {
    /// Returns the value at a path of keys.
    func value(at path: ArraySlice<String>) -> JSONValue? {
        guard let key = path.first else { return self }
        guard case .object(let values) = self else { return nil }
        return values[key]?.value(at: path.dropFirst())
    }

    /// Sets or removes the value at a path of keys that exist.
    mutating func set(_ value: JSONValue?, at path: ArraySlice<String>) {
        guard case .object(var values) = self, let key = path.first else { return }
        if path.count == 1 {
            values[key] = value
        } else {
            values[key]?.set(value, at: path.dropFirst())
        }
        self = .object(values)
    }
}
