import BeaconDelivery
import BeaconGateway
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The authentication of senders of events and adverts: apps by their keys, other beacond instances by their signature,
/// gateways by their token.
struct SenderCheck: Sendable {
    /// The largest clock difference of a sender that signs: five minutes, as in the libraries of Standard Webhooks.
    private static let tolerance: TimeInterval = 300

    let settings: IntakeSettings
    let access: ConsoleAccess

    /// Returns the name of the app that a request's keys belong to (HTTP Basic, RFC 7617).
    ///
    /// - Throws: ``Problem`` if the request has no keys of a known app.
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
            // Always compare both, so that the response time does not show which API keys exist.
            let (isKey, isSecret) = (AccessToken.isSame(app.key, key), AccessToken.isSame(app.hash, hash))
            return isKey && isSecret
        }
        if let app { return app.name }
        // Keys cannot be guessed in practice; the delay slows down attempts.
        try await Task.sleep(for: .seconds(1))
        throw Self.refusal("no app has these keys; create keys in the console under Settings")
    }

    /// Checks that a request has signature headers and a recent timestamp.
    ///
    /// - Throws: ``Problem`` otherwise.
    func checkHeaders(of request: Request) throws { _ = try Self.signature(of: request) }

    private static func signature(of request: Request) throws -> (id: String, timestamp: String, signature: String) {
        guard let id = request.headers[.webhookID], let timestamp = request.headers[.webhookTimestamp],
            let signature = request.headers[.webhookSignature], let seconds = TimeInterval(timestamp)
        else {
            throw refusal(
                "sign the request: webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks); beacond does so with \"secret\""
            )
        }
        guard abs(Date().timeIntervalSince1970 - seconds) <= tolerance else {
            throw refusal("the timestamp of the request is more than five minutes off; set the clocks of both machines")
        }
        return (id, timestamp, signature)
    }

    /// Checks the signature of a webhook request (Standard Webhooks 1.0).
    ///
    /// - Throws: ``Problem`` if the signature is not the sender's.
    func check(_ request: Request, of webhook: IntakeSettings.Webhook, body: Data) throws {
        let (id, timestamp, signature) = try Self.signature(of: request)
        let keys = try WebhookSignature([webhook.signingSecret])
        guard keys.isValid(signature, id: id, timestamp: timestamp, body: body) else {
            throw Self.refusal(
                "the signature does not match this webhook's secret; set the same \"secret\" on both sides")
        }
    }

    /// Checks that a gateway's request has the token of its source.
    ///
    /// The token is sent as "Authorization: Bearer" or as the password of HTTP Basic with any user. Many gateways only
    /// have a setting for an address, so the token may also be the query parameter "token".
    ///
    /// - Throws: ``Problem`` if the token is missing or wrong.
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
            // A token cannot be guessed in practice; the delay slows down attempts.
            try await Task.sleep(for: .seconds(1))
            throw Self.refusal(
                "send this source's token: as \"Authorization: Bearer TOKEN\", as a password, or as ?token= in the address"
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
