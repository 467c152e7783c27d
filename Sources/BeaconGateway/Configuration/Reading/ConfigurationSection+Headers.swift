import BeaconDelivery
import Yams

extension ConfigurationSection {
    /// Headers by their names. Values that are secret are given as secrets are.
    func headers() -> [WebhookSettings.Header] {
        let headers = takeAll().compactMap { (name, place) -> WebhookSettings.Header? in
            // RFC 9110, 5.6.2: a name is a token.
            let isToken = name.unicodeScalars.allSatisfy {
                $0.properties.isASCIIHexDigit || "!#$%&'*+-.^_`|~".unicodeScalars.contains($0)
                    || ("a"..."z").contains($0) || ("A"..."Z").contains($0)
            }
            guard isToken, !name.isEmpty else {
                report(.file(place), "\"\(name)\" cannot be the name of a header; write letters, digits and hyphens")
                return nil
            }
            if case .mapping? = node(name) { return secret(name).map { .init(name: name, value: $0) } }
            guard let text = text(name) else { return nil }
            guard !["authorization", "proxy-authorization", "cookie"].contains(name.lowercased()) else {
                report(
                    text.origin,
                    "\"\(name)\" is written here in the open; write { env: NAME } or { file: PATH } to say where it is")
                return nil
            }
            guard text.value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
                report(text.origin, "\"\(name)\" has characters that no header may have")
                return nil
            }
            return .init(name: name, value: Secret(text.value))
        }
        finish()
        return headers
    }
}
