package import BeaconSupport
import Foundation

/// The settings of a connection to NATS.
package struct NATSOptions: Hashable, Sendable {
    /// The servers, each as `nats://HOST:PORT` or, with TLS, `tls://HOST:PORT`. They are tried in this order; a
    /// connection that is lost is made again with the next one. They should all belong to one cluster.
    package var servers: [String]

    /// The client's name, which the server shows in its lists.
    package var name: String

    /// The user, where the servers require one.
    package var user: String?

    /// The user's password.
    package var password: Secret?

    /// The token, where the servers require one instead of a user.
    package var token: Secret?

    /// A file of credentials (`.creds`), where the servers require those of a decentralized account.
    package var credentialsFile: String?

    /// A PEM file with the certificates of the authorities to trust; nil for the system's.
    package var authorityFile: String?

    /// A PEM file with the client's certificate, where the servers require one.
    package var certificateFile: String?

    /// A PEM file with the key of ``certificateFile``, not encrypted.
    package var keyFile: String?

    /// Settings of servers without credentials.
    package init(servers: [String], name: String = "swift-beacon") {
        self.servers = servers
        self.name = name
    }

    /// The settings in an address such as `nats://USER:PASSWORD@HOST:PORT,HOST:PORT`, or `tls://` for TLS; nil where
    /// the text is no such address. User, password and port may be missing. Percent escapes in the user and the
    /// password are decoded; the servers have none of them any more.
    package init?(_ text: String) {
        guard let separator = text.range(of: "://") else { return nil }
        let scheme = text[..<separator.lowerBound]
        var hosts = text[separator.upperBound...]
        self.init(servers: [])
        if let at = hosts.lastIndex(of: "@") {
            let parts = hosts[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.compactMap { String($0).removingPercentEncoding }
            guard decoded.count == parts.count, let user = decoded.first, !user.isEmpty else { return nil }
            self.user = user
            if decoded.count == 2 { password = Secret(decoded[1]) }
            hosts = hosts[hosts.index(after: at)...]
        }
        for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
            guard let address = NATSAddress("\(scheme)://\(host)") else { return nil }
            servers.append(address.description)
        }
    }

    /// The servers' hosts and ports without credentials, for people.
    package var title: String {
        servers.map { server in NATSAddress(server).map(\.title) ?? server.printable }.joined(separator: ", ")
    }

    /// Returns the mistakes in these settings, each with its remedy. It does not read files.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if servers.isEmpty { mistakes.append("no server is given; write one such as nats://localhost:4222") }
        for server in servers where NATSAddress(server) == nil {
            // What is before an @ may be a password.
            let shown = server.split(separator: "@").last.map(String.init) ?? ""
            mistakes.append(
                "the server \"\(shown.printable)\" is not valid; write nats://HOST:PORT or tls://HOST:PORT, and "
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
    /// The port that is registered for NATS.
    private static let registeredPort: UInt16 = 4222

    let host: String
    let port: UInt16
    let isSecured: Bool

    /// The address in a text such as `tls://host:4222`; nil where it is none.
    init?(_ text: String) {
        guard let separator = text.range(of: "://") else { return nil }
        switch text[..<separator.lowerBound] {
        case "nats": isSecured = false
        case "tls": isSecured = true
        default: return nil
        }
        let rest = text[separator.upperBound...]
        // The colons of an address of IPv6 stand in brackets.
        let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]").map(rest.index(after:)) : rest.firstIndex(of: ":")
        let name = rest[..<(end ?? rest.endIndex)]
        let tail = rest[name.endIndex...]
        guard !name.isEmpty, name.hasPrefix("[") == name.hasSuffix("]") else { return nil }
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: "%"):
                guard name.hasPrefix("[") else { return nil }
            default: return nil
            }
        }
        host = String(name)
        if tail.isEmpty {
            port = Self.registeredPort
        } else {
            guard tail.hasPrefix(":"), let port = UInt16(tail.dropFirst()), port > 0 else { return nil }
            self.port = port
        }
    }

    /// Host and port.
    var title: String { "\(host):\(port)" }

    /// The host as its certificate has it.
    var certifiedHost: String { host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }

    /// The address, for the library, which knows TLS as a setting and not as a scheme.
    var url: String { "nats://\(title)" }

    /// The address.
    var description: String { "\(isSecured ? "tls" : "nats")://\(title)" }
}
