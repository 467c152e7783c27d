import BeaconConfiguration
public import BeaconDelivery
public import Foundation
import Yams

/// The settings of a webhook.
public struct WebhookSettings: Hashable, Sendable {
    /// A header of each request.
    public struct Header: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value, which may be a token.
        public var value: Secret

        /// Creates a header from its parts.
        public init(name: String, value: Secret) {
            self.name = name
            self.value = value
        }
    }

    /// The address.
    public var url: URL
    /// The headers of each request.
    public var headers: [Header] = []
    /// The secret that signs requests; nil where they are not signed.
    public var signingSecret: Secret?
    /// The most notifications in one request.
    public var batch = 1
    /// The time limit for connecting.
    public var connectTimeout = Duration.seconds(10)
    /// The time limit for a request.
    public var timeout = Duration.seconds(30)
    /// The proxy; nil for none.
    public var proxy: URL?
    /// The file of certificates (PEM) that are trusted besides the machine's.
    public var authorityFile: String?

    /// Creates the settings of a webhook at an address.
    public init(url: URL) { self.url = url }
}

extension WebhookSettings {
    static func read(_ section: ConfigurationSection) -> WebhookSettings? {
        let url = section.url("url")
        let secret = section.secret("secret")
        let headers = section.section("headers").headers()
        let batch = section.integer("batch", 1...1000)
        let connectTimeout = section.duration("connect-timeout", .milliseconds(100)...(.seconds(600)))
        let timeout = section.duration("timeout", .milliseconds(100)...(.seconds(3600)))
        let proxy = section.url("proxy")
        let authorityFile = section.existingFile("ca-file")
        guard section.has("url") else {
            section.reportMissing("url", "write the address that takes the notifications")
            return nil
        }
        guard let url else { return nil }
        var settings = WebhookSettings(url: url)
        settings.signingSecret = secret
        settings.headers = headers
        settings.proxy = proxy
        settings.authorityFile = authorityFile
        if let batch { settings.batch = batch.value }
        if let connectTimeout { settings.connectTimeout = connectTimeout }
        if let timeout { settings.timeout = timeout }
        return settings
    }
}

extension ConfigurationSection {
    /// Returns headers by their names. Values that are secret are given as secrets are.
    func headers() -> [WebhookSettings.Header] {
        let headers = allKeys().compactMap { (name, location) -> WebhookSettings.Header? in
            // RFC 9110, 5.6.2: a name is a token.
            let isToken = name.unicodeScalars.allSatisfy {
                $0.properties.isASCIIHexDigit || "!#$%&'*+-.^_`|~".unicodeScalars.contains($0)
                    || ("a"..."z").contains($0) || ("A"..."Z").contains($0)
            }
            guard isToken, !name.isEmpty else {
                report(.file(location), "\"\(name)\" cannot be the name of a header; write letters, digits and hyphens")
                return nil
            }
            if case .mapping? = node(name) { return secret(name).map { .init(name: name, value: $0) } }
            guard let text = text(name) else { return nil }
            guard !["authorization", "proxy-authorization", "cookie"].contains(name.lowercased()) else {
                report(
                    text.origin,
                    "\"\(name)\" is written here for all to read; write { env: NAME } or { file: PATH } to say where it is"
                )
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
