import Crypto
public import Foundation

/// The configuration of a ``WebhookSink``: address, headers, signature, form.
public struct WebhookSettings: Hashable, Sendable {
    /// The webhook's address, `https` or `http`. It may be a secret in itself, and is not logged.
    public var url: URL

    /// Headers of each request, for instance `Authorization`.
    public var headers: [String: Secret]

    /// The secrets that sign requests; none for no signature. While a secret is replaced there are two, and a receiver
    /// accepts either.
    ///
    /// A secret that begins with `whsec_` is Base64 behind that, as Standard Webhooks specifies; any other is used as
    /// it is.
    public var signingSecrets: [Secret]

    /// The `source` of the events, a URI reference that names this gateway (CloudEvents 1.0, "source").
    public var source: String

    /// The prefix of an event's `type`; the notification's kind follows.
    public var typePrefix: String

    /// The most notifications in a request. With 1, each has a request of its own (CloudEvents, structured mode); with
    /// more, requests contain arrays (batched mode), which is faster and which the receiver has to support.
    public var maximumBatch: Int

    /// The HTTP settings.
    public var http: HTTPSettings

    /// The configuration of a webhook, by default without headers and signature.
    ///
    /// - Parameters:
    ///   - url: the webhook's address.
    ///   - headers: headers of each request.
    ///   - signingSecrets: the secrets that sign requests.
    ///   - source: the `source` of the events.
    ///   - typePrefix: the prefix of an event's `type`.
    ///   - maximumBatch: the most notifications in a request.
    ///   - http: the HTTP settings.
    public init(
        url: URL, headers: [String: Secret] = [:], signingSecrets: [Secret] = [], source: String = "urn:swift-beacon",
        typePrefix: String = "swift-beacon.", maximumBatch: Int = 1, http: HTTPSettings = HTTPSettings()
    ) {
        self.url = url
        self.headers = headers
        self.signingSecrets = signingSecrets
        self.source = source
        self.typePrefix = typePrefix
        self.maximumBatch = maximumBatch
        self.http = http
    }
}

extension WebhookSettings: CustomStringConvertible, CustomReflectable {
    /// The host, without the rest of the address.
    public var description: String { "webhook at \(url.host ?? "nowhere")" }
    /// A mirror with no more than the host.
    public var customMirror: Mirror { Mirror(self, children: ["host": url.host ?? ""]) }
}

/// The signature of Standard Webhooks 1.0: HMAC-SHA256 over the id, the time and the body, so that neither can be
/// changed, nor an old request replayed.
///
/// `webhook-signature` contains `v1,` and the Base64 of the code for each secret, separated by spaces.
package struct WebhookSignature: Sendable {
    private let keys: [SymmetricKey]

    /// Makes the keys of secrets.
    ///
    /// - Throws: ``SinkError`` where a secret is empty, or begins with `whsec_` and is no Base64 behind that.
    package init(_ secrets: [Secret]) throws(SinkError) {
        var keys: [SymmetricKey] = []
        for secret in secrets {
            let text = secret.reveal()
            if text.hasPrefix("whsec_") {
                guard let bytes = Data(base64Encoded: String(text.dropFirst(6))), !bytes.isEmpty else {
                    throw SinkError(
                        .invalidSecret, "a signing secret begins with whsec_, and what follows has to be Base64")
                }
                keys.append(SymmetricKey(data: bytes))
            } else {
                guard !text.isEmpty else { throw SinkError(.invalidSecret, "a signing secret is empty; write one") }
                keys.append(SymmetricKey(data: Data(text.utf8)))
            }
        }
        self.keys = keys
    }

    var isEmpty: Bool { keys.isEmpty }

    /// Returns the value of `webhook-signature`.
    package func value(id: String, timestamp: Int64, body: Data) -> String {
        let content = Data("\(id).\(timestamp).".utf8) + body
        return keys.map { key in
            "v1," + Data(HMAC<SHA256>.authenticationCode(for: content, using: key)).base64EncodedString()
        }.joined(separator: " ")
    }

    /// Returns true where one of the signatures of a request is of one of the secrets.
    ///
    /// - Parameters:
    ///   - signatures: the value of `webhook-signature`.
    ///   - id: that of `webhook-id`.
    ///   - timestamp: that of `webhook-timestamp`.
    ///   - body: the body.
    package func isValid(_ signatures: String, id: String, timestamp: String, body: Data) -> Bool {
        let content = Data("\(id).\(timestamp).".utf8) + body
        let given = signatures.split(separator: " ").prefix(10).compactMap { signature in
            signature.hasPrefix("v1,") ? Data(base64Encoded: String(signature.dropFirst(3))) : nil
        }
        return keys.contains { key in
            given.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: content, using: key) }
        }
    }
}
