import BeaconConfiguration
import BeaconModel

extension GatewayConfiguration {
    /// Returns where a secret of the console is used, in words: keys of the file, and items of the console.
    package func uses(ofSecret name: String) -> [String] {
        let ofFile = (usedSecrets[name] ?? []).map { "\"\($0)\" in the file" }
        return ofFile
            + items.filter { $0.origin == .console && $0.secrets.contains(name) }.map {
                "the \($0.kind.rawValue) \"\($0.name)\""
            }
    }
}

extension GatewayConfiguration {
    /// Returns the secrets that items of the console had when they were entered, and that nothing uses in another
    /// configuration. Secrets that were set by themselves have other names.
    package func leftSecrets(in after: GatewayConfiguration) -> [String] {
        let entered = items.filter { $0.origin == .console && $0.kind.isConnection }.flatMap { item in
            item.secrets.filter { $0.hasPrefix(ConnectionInput.prefix(of: item.kind)) }
        }
        return Set(entered).filter { after.uses(ofSecret: $0).isEmpty }.sorted()
    }
}

extension ConfigurationItem {
    /// The names of the console's secrets that the settings refer to.
    var secrets: Set<String> { Set(settings.references(["secret"]).map(\.value)) }
}

/// A reference to a secret, such as `{ env: NAME }`.
struct SecretReference: Hashable {
    var key: String
    var value: String
}

extension JSONValue {
    /// The references to secrets, at any depth.
    func references(_ keys: Set<String> = ["env", "file", "secret"]) -> [SecretReference] {
        switch self {
        case .object(let values):
            if values.count == 1, let (key, value) = values.first, keys.contains(key), let text = value.scalarText {
                return [SecretReference(key: key, value: text)]
            }
            return values.values.flatMap { $0.references(keys) }
        case .array(let values): return values.flatMap { $0.references(keys) }
        default: return []
        }
    }
}
