public import BeaconDelivery
public import Foundation

/// How to reach a webhook.
public struct WebhookSettings: Hashable, Sendable {
    /// A header that goes with each request.
    public struct Header: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its value, which may be a token.
        public var value: Secret

        /// A header from its parts.
        public init(name: String, value: Secret) {
            self.name = name
            self.value = value
        }
    }

    /// The address.
    public var url: URL
    /// Headers that go with each request.
    public var headers: [Header] = []
    /// What requests are signed with; nil where they are not.
    public var signingSecret: Secret?
    /// The most notifications in one request; 1 sends each by itself.
    public var batch = 1
    /// How long connecting may take.
    public var connectTimeout = Duration.seconds(10)
    /// How long a request may take.
    public var timeout = Duration.seconds(30)
    /// The proxy to go by; nil for none.
    public var proxy: URL?
    /// A file of certificates (PEM) that are trusted besides the machine's.
    public var authorityFile: String?

    /// A webhook at an address.
    public init(url: URL) { self.url = url }
}
