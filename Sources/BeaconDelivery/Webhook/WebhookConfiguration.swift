public import Foundation

/// A webhook: where it is, and what it expects.
public struct WebhookConfiguration: Sendable {
    /// Its address, `https` or `http`. It may be a secret in itself, and is not logged.
    public var url: URL

    /// Headers that each request carries, for instance `Authorization`.
    public var headers: [String: Secret]

    /// The secrets that requests are signed with; none for no signature. While a secret is being changed there are two, and
    /// a receiver takes either.
    ///
    /// A secret that begins with `whsec_` is Base64 behind that, as Standard Webhooks has it; any other is taken as it is.
    public var signingSecrets: [Secret]

    /// The `source` of the events, a URI reference that names this gateway (CloudEvents 1.0, "source").
    public var source: String

    /// What the `type` of an event begins with; the notification's kind follows.
    public var typePrefix: String

    /// How many notifications a request may carry. With 1, each comes in a request of its own (CloudEvents, structured mode);
    /// with more, requests carry arrays (batched mode), which is faster and which the receiver has to know.
    public var maximumBatch: Int

    /// How it speaks HTTP.
    public var http: HTTPSettings

    /// A webhook at an address, without headers and signature.
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

extension WebhookConfiguration: CustomStringConvertible, CustomReflectable {
    /// The host alone.
    public var description: String { "webhook at \(url.host ?? "nowhere")" }
    /// A mirror that shows no more than the description.
    public var customMirror: Mirror { Mirror(self, children: ["host": url.host ?? ""]) }
}
