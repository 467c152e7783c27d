package import BeaconSupport

/// The settings of a connection to NATS.
package struct NATSSettings: Hashable, Sendable {
    /// The servers, each as `nats://HOST:PORT` or, with TLS, `tls://HOST:PORT`. The connection tries them in this
    /// order; after a loss it tries the next server first. They should all belong to one cluster.
    package var servers: [String]

    /// The client's name, which the server shows in its lists.
    package var name: String

    /// The user name, if the servers require one.
    package var user: String?

    /// The user's password.
    package var password: Secret?

    /// The token, if the servers require one instead of a user name.
    package var token: Secret?

    /// A file of credentials (`.creds`), if the servers require those of a decentralized account.
    package var credentialsFile: String?

    /// A PEM file with the certificates of the authorities to trust; nil for the system's.
    package var authorityFile: String?

    /// A PEM file with the client's certificate, if the servers require one.
    package var certificateFile: String?

    /// A PEM file with the unencrypted key of ``certificateFile``.
    package var keyFile: String?

    /// Creates settings without credentials.
    package init(servers: [String], name: String = "swift-beacon") {
        self.servers = servers
        self.name = name
    }

    /// Creates settings from an address such as `nats://USER:PASSWORD@HOST:PORT,HOST:PORT`, or `tls://` for TLS. User,
    /// password and port are optional. Percent escapes in the user and the password are decoded.
    ///
    /// - Throws: ``AddressError``, which quotes no part of the text.
    package init(_ text: String) throws(AddressError) {
        let address = try ServerAddress(text)
        self.init(servers: [])
        (user, password) = (address.user, address.password)
        guard ["nats", "tls"].contains(address.scheme) else { throw .noNATS }
        guard address.path.isEmpty, address.query.isEmpty else { throw .pathOfNATS }
        servers = address.hosts.map { NATSAddress($0, isSecured: address.scheme == "tls").description }
    }

    /// The servers' hosts and ports without credentials, for display.
    package var title: String {
        servers.map { server in NATSAddress(server).map(\.title) ?? server.shownAddress }.joined(separator: ", ")
    }

    /// Returns the mistakes in these settings, each with its remedy. It does not read files.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if servers.isEmpty { mistakes.append("no server is given; write one such as nats://localhost:4222") }
        for server in servers where NATSAddress(server) == nil {
            mistakes.append(
                "the server \"\(server.shownAddress)\" is not valid; write nats://HOST:PORT or tls://HOST:PORT, and "
                    + "credentials apart from it")
        }
        if name.isEmpty || name.utf8.contains(0) { mistakes.append("name is empty; write a name for this client") }
        if (user == nil) != (password == nil) {
            mistakes.append("a user and a password go together; give both or none")
        }
        if [user != nil, token != nil, credentialsFile != nil].count(where: { $0 }) > 1 {
            mistakes.append("more than one of user, token and credentialsFile is given; give one of them")
        }
        if (certificateFile == nil) != (keyFile == nil) {
            mistakes.append("a client's certificate and its key go together; give both files or none")
        }
        let texts = [
            user, password?.reveal(), token?.reveal(), credentialsFile, authorityFile, certificateFile, keyFile,
        ]
        if texts.contains(where: { $0?.utf8.contains(0) ?? false }) {
            mistakes.append("a setting has a null character in it; remove it")
        }
        return mistakes
    }
}

/// The address of one server.
struct NATSAddress: Hashable, CustomStringConvertible {
    /// The default port of NATS.
    private static let registeredPort: UInt16 = 4222

    /// The host as it appears in its certificate, without brackets.
    let certifiedHost: String
    let port: UInt16
    let isSecured: Bool

    /// Creates the address of a host.
    init(_ host: HostAndPort, isSecured: Bool) {
        certifiedHost = host.host
        port = host.port ?? Self.registeredPort
        self.isSecured = isSecured
    }

    /// Creates an address from a text such as `tls://host:4222`; nil if the text is not valid.
    init?(_ text: String) {
        guard let address = try? ServerAddress(text), ["nats", "tls"].contains(address.scheme),
            address.hosts.count == 1,
            address.user == nil, address.path.isEmpty, address.query.isEmpty
        else { return nil }
        self.init(address.hosts[0], isSecured: address.scheme == "tls")
    }

    /// The host, with brackets around an IPv6 address.
    var host: String { HostAndPort(host: certifiedHost).description }

    /// The host and port, for display.
    var title: String { "\(host):\(port)" }

    /// The address for the library: there TLS is a setting, not a scheme.
    var url: String { "nats://\(title)" }

    var description: String { "\(isSecured ? "tls" : "nats")://\(title)" }
}

extension AddressError {
    fileprivate static let noNATS = AddressError(
        .noScheme, "the scheme is not a NATS scheme; write nats://HOST, or tls://HOST for TLS")
    fileprivate static let pathOfNATS = AddressError(
        .invalidHost, "a path or a setting follows the hosts; write only the hosts")
}
