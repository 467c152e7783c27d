import BeaconConfiguration
import BeaconDelivery
import BeaconModel
import Foundation

extension WebhookSettings {
    /// The keys of a webhook.
    static let grammar = Grammar<Self>(
        WebhookSettings(url: URL(fileURLWithPath: "/")),
        [
            Setting(
                "url", \.url, .url, required: "write the address that receives the notifications",
                "The address that receives the notifications."),
            Setting(
                "secret", .secret,
                "The secret that signs requests (Standard Webhooks): `whsec_` and Base64, or any text."
            ) { $0.signingSecrets = [$1] },
            Setting("headers", \.headers, .headers, "Additional headers; give tokens as secrets."),
            Setting(
                "batch", \.maximumBatch, .integer(1...1000),
                "The most notifications in one request; with more than one, requests have lists."),
            Setting(
                "connect-timeout", \.http.connectTimeout, .duration(.milliseconds(100)...(.seconds(600))),
                "The time limit for connecting."),
            Setting(
                "timeout", \.http.requestTimeout, .duration(.milliseconds(100)...(.seconds(3600))),
                "The time limit for a request."),
            Setting("proxy", .url, "The proxy for reaching it.") { $0.http.proxy = HTTPProxy($1) },
            Setting("ca-file", .existingFile, "Certificates (PEM) that are trusted besides the system's.") {
                $0.http.additionalTrustRoots = [URL(fileURLWithPath: $1)]
            },
        ])
}

extension ConfigurationSection {
    /// Warns of a signing secret that a receiver may read differently.
    func warnOfSigning(_ secret: Secret) {
        if let doubt = WebhookSignature.doubt(about: secret) { warn("\"secret\" \(doubt)") }
    }
}

extension KumulosSettings {
    /// The keys of an app at Kumulos.
    static let grammar = Grammar<Self>(
        KumulosSettings(apiKey: Secret(""), secretKey: Secret(""), installID: ""),
        [
            Setting("api-key", \.apiKey, .secret, required: remedy, "The app's API key."),
            Setting("secret-key", \.secretKey, .secret, required: remedy, "The app's secret key."),
            Setting(
                "install-id", \.installID, .text(1...200, "write the id of the installation, a UUID"),
                default: "created once and stored",
                "The install id of this gateway at Kumulos, a UUID."),
            Setting("url", \.baseURL, .url, "The address of the server."),
        ])

    private static let remedy =
        "Kumulos shows it in the app's settings; give it as { env: NAME } or { file: PATH }"
}

extension HTTPProxy {
    /// Creates the proxy of an address, with its user and password.
    fileprivate init?(_ url: URL) {
        guard let host = url.host else { return nil }
        // RFC 9110, 4.2: the default ports.
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        self.init(host: host, port: port, username: url.user, password: url.password.map { Secret($0) })
    }
}

extension SettingKind<[String: Secret]> {
    /// The headers by name. Secret values are given as secrets.
    fileprivate static let headers = SettingKind(.pairs(.either([.text(), .secret]), most: 1_000, longest: 10_000)) {
        section, key in
        let inside = section.section(key)
        var headers: [String: Secret] = [:]
        for name in inside.allKeys() {
            guard HTTPHeaderCheck.isName(name) else {
                inside.report(
                    inside.place(ofKey: name),
                    "\"\(name)\" is not a valid header name; write letters, digits and hyphens")
                continue
            }
            if let value = value(of: name, in: inside) { headers[name] = value }
        }
        inside.finish()
        return headers
    }

    private static func value(of name: String, in section: ConfigurationSection) -> Secret? {
        if case .object? = section.value(name) { return section.read(name, .secret) }
        guard let text = section.text(name) else { return nil }
        let origin = section.origin(of: name)
        guard !["authorization", "proxy-authorization", "cookie"].contains(name.lowercased()) else {
            section.report(
                origin,
                "\"\(name)\" is in plain text here; use { env: NAME } or { file: PATH } instead")
            return nil
        }
        guard HTTPHeaderCheck.isValue(text) else {
            section.report(origin, "\"\(name)\" has characters that are not allowed in a header")
            return nil
        }
        return Secret(text)
    }
}
