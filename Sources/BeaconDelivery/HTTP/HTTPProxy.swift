/// A proxy that a sink's requests go through.
public struct HTTPProxy: Sendable {
    /// Its name or address.
    public var host: String
    /// Its port.
    public var port: Int
    /// The user name that it wants, where it wants one.
    public var username: String?
    /// The password that goes with it.
    public var password: Secret?

    /// A proxy at an address.
    public init(host: String, port: Int, username: String? = nil, password: Secret? = nil) {
        self.host = host
        self.port = port
        self.username = username
        self.password = password
    }
}
