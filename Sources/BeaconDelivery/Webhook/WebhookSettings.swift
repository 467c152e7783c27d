import BeaconSupport
public import Foundation

/// The configuration of a ``WebhookSink``: address, headers, signature, form.
public struct WebhookSettings: Hashable, Sendable {
    /// The webhook's address, `https` or `http`. It is not logged, because it may itself be a secret.
    public var url: URL

    /// Additional headers of each request, for instance `Authorization`.
    public var headers: [String: Secret]

    /// The secrets that sign requests; an empty array for no signature. During the replacement of a secret there are
    /// two, and a receiver accepts either.
    ///
    /// A secret that begins with `whsec_` continues in Base64, as Standard Webhooks specifies; `v1,` before that is
    /// ignored. Any other secret is used as it is.
    public var signingSecrets: [Secret]

    /// The `source` of the events, a URI reference that names this gateway (CloudEvents 1.0, "source").
    public var source: String

    /// The prefix of an event's `type`; the notification's kind follows.
    public var typePrefix: String

    /// The maximum number of notifications in a request. With 1, each is sent in a separate request (CloudEvents,
    /// structured mode). With more, requests contain arrays (batched mode), which is faster but needs the receiver's
    /// support.
    public var maximumBatch: Int

    /// The HTTP settings.
    public var http: HTTPSettings

    /// Creates the configuration of a webhook, by default without headers and signature.
    ///
    /// - Parameters:
    ///   - url: the webhook's address.
    ///   - headers: headers of each request.
    ///   - signingSecrets: the secrets that sign requests.
    ///   - source: the `source` of the events.
    ///   - typePrefix: the prefix of an event's `type`.
    ///   - maximumBatch: the maximum number of notifications in a request.
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
    /// A mirror that contains only the host.
    public var customMirror: Mirror { Mirror(self, children: ["host": url.host ?? ""]) }
}

/// The signature of Standard Webhooks 1.0: an HMAC-SHA256 of the id, the time and the body. It reveals changes to a
/// request and the replay of an old one.
///
/// `webhook-signature` contains `v1,` and the Base64 of the code for each secret, separated by spaces.
package struct WebhookSignature: Sendable {
    private let keys: [Data]

    /// The fewest bytes of a key. Standard Webhooks recommends 24 to 64; fewer than this can be guessed at once.
    private static let shortest = 5

    /// Returns the reason why a receiver may read a secret differently; nil for most secrets.
    package static func doubt(about secret: Secret) -> String? {
        let text = secret.reveal()
        guard text.count >= 32, Data(base64Encoded: text) != nil, !text.allSatisfy(\.isHexDigit) else { return nil }
        return "looks like Base64, but is used as it is, which libraries of Standard Webhooks do not do; "
            + "write whsec_ before it here and at the other end"
    }

    /// Creates the keys of secrets.
    ///
    /// - Throws: ``SinkError`` if a secret is too short to be one, or if it begins with `whsec_` and the rest is not
    ///   Base64.
    package init(_ secrets: [Secret]) throws(SinkError) {
        var keys: [Data] = []
        for secret in secrets {
            // Some services show the signature's version before the secret.
            let text = secret.reveal().replacing(/^v1,(?=whsec_)/, with: "")
            let isMarked = text.hasPrefix("whsec_")
            guard let key = isMarked ? Data(base64Encoded: String(text.dropFirst(6))) : Data(text.utf8) else {
                throw SinkError(.invalidSecret, "a signing secret begins with whsec_, but the rest is not Base64")
            }
            guard key.count >= Self.shortest else {
                throw SinkError(
                    .invalidSecret,
                    key.isEmpty
                        ? "a signing secret is empty; write one"
                        : "a signing secret has only \(key.count) bytes; create one with openssl rand -base64 24, and "
                            + "write whsec_ before it")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    var isEmpty: Bool { keys.isEmpty }

    /// Returns the value of `webhook-signature`.
    package func value(id: String, timestamp: Int64, body: Data) -> String {
        let content = Data("\(id).\(timestamp).".utf8) + body
        return keys.map { "v1," + Data(SHA256.hmac(content, key: $0)).base64EncodedString() }.joined(separator: " ")
    }

    /// Returns whether one of the signatures of a request matches one of the secrets.
    ///
    /// - Parameters:
    ///   - signatures: the value of `webhook-signature`.
    ///   - id: the value of `webhook-id`.
    ///   - timestamp: the value of `webhook-timestamp`.
    ///   - body: the body.
    package func isValid(_ signatures: String, id: String, timestamp: String, body: Data) -> Bool {
        let content = Data("\(id).\(timestamp).".utf8) + body
        let given = signatures.split(separator: " ").prefix(10).compactMap { signature in
            signature.hasPrefix("v1,") ? Data(base64Encoded: String(signature.dropFirst(3))) : nil
        }
        return keys.map { SHA256.hmac(content, key: $0) }.contains { code in
            given.contains { SHA256.isSame($0, code) }
        }
    }
}
