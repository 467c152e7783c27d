import BeaconDelivery
import BeaconGateway
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The check of who sends events and adverts: an app by its keys, another beacond by its signature, a gateway by its
/// token.
struct SenderCheck: Sendable {
    /// The time by which the clock of a sender that signs may differ: that of Standard Webhooks' libraries, five
    /// minutes.
    private static let tolerance: TimeInterval = 300

    let settings: IntakeSettings
    let access: ConsoleAccess

    /// Returns the name of the app whose keys a request has (HTTP Basic, RFC 7617).
    ///
    /// - Throws: ``Problem`` where they are none.
    func app(of request: Request) async throws -> String {
        let words = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(words[1])), let text = String(data: bytes, encoding: .utf8),
            let colon = text.firstIndex(of: ":")
        else { throw Self.refusal("send the app's keys, as Kumulos' SDK does: HTTP Basic with API key and secret key") }
        let (key, hash) = (String(text[..<colon]), AccessToken.hash(of: String(text[text.index(after: colon)...])))
        var known = settings.apps.map {
            (name: $0.name, key: $0.apiKey.reveal(), hash: AccessToken.hash(of: $0.secretKey.reveal()))
        }
        known += try await access.apps().map { (name: $0.name, key: $0.key, hash: $0.secretHash) }
        let app = known.first { app in
            // Both are compared, since the time must not tell which API keys exist.
            let (isKey, isSecret) = (AccessToken.isSame(app.key, key), AccessToken.isSame(app.hash, hash))
            return isKey && isSecret
        }
        if let app { return app.name }
        // Nobody guesses the keys; who tries costs nothing but this.
        try await Task.sleep(for: .seconds(1))
        throw Self.refusal("these are the keys of no app; the console makes some, under Settings")
    }

    /// Checks that a request is signed at all, and now.
    ///
    /// - Throws: ``Problem`` where it is not.
    func checkHeaders(of request: Request) throws { _ = try Self.signature(of: request) }

    private static func signature(of request: Request) throws -> (id: String, timestamp: String, signature: String) {
        guard let id = request.headers[.webhookID], let timestamp = request.headers[.webhookTimestamp],
            let signature = request.headers[.webhookSignature], let seconds = TimeInterval(timestamp)
        else {
            throw refusal(
                "sign the request: webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks), as beacond does with \"secret\""
            )
        }
        guard abs(Date().timeIntervalSince1970 - seconds) <= tolerance else {
            throw refusal("the request is of another time; set the clocks of both machines")
        }
        return (id, timestamp, signature)
    }

    /// Checks the signature of a webhook's request (Standard Webhooks 1.0).
    ///
    /// - Throws: ``Problem`` where it is not the one of the sender.
    func check(_ request: Request, of webhook: IntakeSettings.Webhook, body: Data) throws {
        let (id, timestamp, signature) = try Self.signature(of: request)
        let keys = try WebhookSignature([webhook.signingSecret])
        guard keys.isValid(signature, id: id, timestamp: timestamp, body: body) else {
            throw Self.refusal("the signature is not of this webhook's secret; give both the same \"secret\"")
        }
    }

    /// Checks that a gateway shows its source's token: as "Authorization: Bearer", as the password of HTTP Basic with
    /// any user, or, since many gateways can be given nothing but an address, as "token" behind it.
    ///
    /// - Throws: ``Problem`` where it does not.
    func check(_ request: Request, of source: PostedSource) async throws {
        let words = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        var shown = request.parameter("token")
        if words.count == 2, words[0].lowercased() == "bearer" {
            shown = words[1]
        } else if words.count == 2, words[0].lowercased() == "basic", let bytes = Data(base64Encoded: words[1]) {
            shown = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1).last.map(String.init)
        }
        guard let shown, let token = source.token,
            AccessToken.isSame(AccessToken.hash(of: shown), AccessToken.hash(of: token.reveal()))
        else {
            // Nobody guesses it; who tries costs nothing but this.
            try await Task.sleep(for: .seconds(1))
            throw Self.refusal(
                "show the token of this source: as \"Authorization: Bearer TOKEN\", as a password, or as ?token= behind the address"
            )
        }
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.unauthorized, detail, headers: [.wwwAuthenticate: "Basic realm=\"beacond\""])
    }
}

extension HTTPField.Name {
    static let webhookID = HTTPField.Name("webhook-id") ?? .accept
    static let webhookTimestamp = HTTPField.Name("webhook-timestamp") ?? .accept
    static let webhookSignature = HTTPField.Name("webhook-signature") ?? .accept
}
