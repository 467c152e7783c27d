public import Foundation

/// The HTTP settings of a sink: time-outs, proxy, trust.
public struct HTTPSettings: Hashable, Sendable {
    /// The longest time to connect, including TLS and a proxy.
    public var connectTimeout: Duration

    /// The longest time from sending a request to the end of its response, and the longest pause within the response.
    public var requestTimeout: Duration

    /// The proxy; nil for none. The environment variable `https_proxy` is ignored.
    public var proxy: HTTPProxy?

    /// Files of PEM certificates to trust besides the system's. Certificates are always verified.
    public var additionalTrustRoots: [URL]

    /// The value of the `User-Agent` header.
    public var userAgent: String

    /// Creates settings. The defaults are 10 s to connect, 30 s for a response, no proxy, and the system's
    /// certificates.
    ///
    /// - Parameters:
    ///   - connectTimeout: the longest time to connect.
    ///   - requestTimeout: the longest time for a response.
    ///   - proxy: the proxy; nil for none.
    ///   - additionalTrustRoots: files of PEM certificates to trust besides the system's.
    ///   - userAgent: the value of the `User-Agent` header.
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

/// A proxy for a sink's requests.
public struct HTTPProxy: Hashable, Sendable {
    /// The proxy's host name or address.
    public var host: String
    /// The proxy's port.
    public var port: Int
    /// The user name, if the proxy requires one.
    public var username: String?
    /// The user's password.
    public var password: Secret?

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - host: its host name or address.
    ///   - port: its port.
    ///   - username: the user name, if it requires one.
    ///   - password: the user's password.
    public init(host: String, port: Int, username: String? = nil, password: Secret? = nil) {
        self.host = host
        self.port = port
        self.username = username
        self.password = password
    }
}

/// The characters that a header may contain (RFC 9110, 5.1 and 5.5).
package enum HTTPHeaderCheck {
    /// Returns whether a text is a token (RFC 9110, 5.6.2), as header names are.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    /// Returns whether a text has no control characters other than tabs.
    package static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }
}
