public import Foundation

/// How a sink speaks HTTP.
public struct HTTPSettings: Sendable {
    /// How long a connection may take, with TLS and a proxy's part.
    public var connectTimeout: Duration

    /// How long an answer may take from when the request is sent, and how long a pause within it may be.
    public var requestTimeout: Duration

    /// The proxy to go through; nil for none. The environment's `https_proxy` is not looked at.
    public var proxy: HTTPProxy?

    /// Files of PEM certificates that are trusted besides the system's. Certificates are always verified.
    public var additionalTrustRoots: [URL]

    /// What the client calls itself.
    public var userAgent: String

    /// 10 s to connect, 30 s to answer, no proxy, the system's trust.
    public init(
        connectTimeout: Duration = .seconds(10), requestTimeout: Duration = .seconds(30), proxy: HTTPProxy? = nil,
        additionalTrustRoots: [URL] = [], userAgent: String = "swift-beacon"
    ) {
        self.connectTimeout = connectTimeout
        self.requestTimeout = requestTimeout
        self.proxy = proxy
        self.additionalTrustRoots = additionalTrustRoots
        self.userAgent = userAgent
    }
}
