import BeaconConfiguration
package import BeaconEventStore
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import NIOCore

/// The settings of the console: its address, and its access control.
public struct WebSettings: Hashable, Sendable {
    /// The default port: the port that Home Assistant uses for embedded consoles (`ingress_port`).
    public static let defaultPort = 8099

    /// The address to listen on.
    public var host = "127.0.0.1"

    /// The port; 0 for any free port.
    public var port = Self.defaultPort

    /// The SHA-256 of the console's token, in hexadecimal; nil if no token is needed.
    public var tokenHash: String?

    /// The certificate chain (PEM) for HTTPS; nil for HTTP.
    public var certificate: String?

    /// The certificate's key (PEM).
    public var key: String?

    /// Additional names of this machine in browsers, such as those of a reverse proxy. `*` accepts every name that a
    /// trusted proxy on another machine forwards.
    public var names: [String] = []

    /// The addresses of proxies that sign their users in, such as Home Assistant's ingress. Without a token, their
    /// users have the same access as programs of this machine.
    public var trustedProxies: Set<String> = []

    /// True if the console only shows, and changes nothing.
    public var isReadOnly = false

    /// True if rules that are created in the console may start programs. Users of the console then have beacond's
    /// permissions.
    public var allowsPrograms = false

    /// The age at which events are deleted.
    public var historyAge = Duration.seconds(90 * 86_400)

    /// The number of events to keep.
    public var historyEntries = 100_000

    /// Creates the default settings, with access only from this machine.
    public init() {}

    /// Creates the settings of a console that listens on an address and a port, such as `127.0.0.1:8099`.
    ///
    /// - Returns: nil if the text is invalid.
    public init?(listening text: String) {
        guard let (host, port) = Self.address(text) else { return nil }
        (self.host, self.port) = (host, port)
    }

    /// True if only programs of this machine can reach it.
    public var isLoopback: Bool { Self.isLoopback(host) }

    /// Returns true for names and addresses that only reach the machine itself.
    package static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) { return true }
        // Digits and dots only: a host name can also begin with "127." and belong to another machine.
        return host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    }

    /// The address to open in a browser. If the console listens on all addresses, it is the first that others can
    /// reach.
    public var address: String {
        let host = ["0.0.0.0", "::"].contains(host) ? MachineAddress.first ?? host : host
        return "\(certificate == nil ? "http" : "https")://\(Self.authority(host, port))/"
    }

    /// The address to open in a browser of another machine; nil if the console listens only on this machine, on an
    /// unknown port, or allows only a proxy.
    var remoteAddress: String? {
        let isBehindProxies = !trustedProxies.isEmpty && tokenHash == nil
        guard !isLoopback, port != 0, !isBehindProxies else { return nil }
        guard ["0.0.0.0", "::"].contains(host) else { return address }
        return MachineAddress.first == nil ? nil : address
    }

    /// Returns a host and a port in the form of a URL, with IPv6 in brackets (RFC 3986, 3.2.2).
    public static func authority(_ host: String, _ port: Int) -> String {
        HostAndPort(host: host, port: UInt16(clamping: port)).description
    }
}

extension WebSettings {
    /// The entry of `names` that accepts every name from a proxy on another machine.
    package static let anyName = "*"

    private static let listen = SettingKind<(host: String, port: Int)>(
        .text(), "write an address and a port, such as 127.0.0.1:8099", parse: address)

    private static let hash = SettingKind<String>(
        .text(pattern: "^[0-9A-Fa-f]{64}$"), "write the 64 hexadecimal digits that \"beacond token\" prints"
    ) { $0.count == 64 && $0.allSatisfy(\.isHexDigit) ? $0.lowercased() : nil }

    /// The age at which events are deleted.
    static let age = SettingKind<Duration>.duration(.seconds(3600)...(.seconds(3660 * 86_400)))

    /// The keys of the console.
    static let grammar = Grammar<Self>(
        WebSettings(),
        [
            Setting(
                "listen", listen, default: "`127.0.0.1:8099`", "The address and the port to listen on."
            ) { (settings, address) in (settings.host, settings.port) = address },
            Setting(
                "token-hash", \.tokenHash, hash,
                "The SHA-256 of the console's token, as `beacond token` prints it."),
            Setting("certificate", \.certificate, .existingFile, "The certificate chain (PEM) for HTTPS."),
            Setting("key", \.key, .existingFile, "The certificate's key (PEM)."),
            Setting(
                "names", \.names, .texts("write names of this machine, such as [beacons.example.com]"),
                "Additional names of this machine in browsers, such as those of a reverse proxy."),
            Setting(
                "trusted-proxies", .list(.text()),
                "The addresses of proxies that sign their users in, as Home Assistant's ingress does.",
                read: { $1.readTrustedProxies($0) }),
            Setting("read-only", \.isReadOnly, .boolean, "The console only shows, and changes nothing."),
            Setting(
                "programs", \.allowsPrograms, .boolean, "Rules that are created in the console may start programs."),
            Setting(
                "history-age", \.historyAge, age,
                "The age at which events are deleted."),
            Setting(
                "history-entries", \.historyEntries, .integer(100...1_000_000),
                "The number of events to keep. A search may have to read all of them, so a million is the most."),
        ]
    ) { section, settings, isWhole in
        settings.check(section)
        return isWhole
    }

    /// Reads `web: true`, or a mapping; nil without a console.
    static func read(_ root: ConfigurationSection) -> WebSettings? {
        if root.value("web")?.scalarText != nil, let text = root.text("web"), let listen = Self.meantAddress(text) {
            root.report(
                root.origin(of: "web"),
                "\"web\" is \"\(text)\"; write \"web: true\", or for another address \"web: { listen: '\(listen)' }\"")
            return nil
        }
        return root.read("web", .switch(grammar))
    }

    /// Reports keys that contradict each other.
    private func check(_ section: ConfigurationSection) {
        checkNames(section)
        if (certificate == nil) != (key == nil) {
            section.report(section.origin, "HTTPS needs both a \"certificate\" and a \"key\"")
        }
        if let certificate, FileManager.default.isReadableFile(atPath: certificate) {
            do {
                _ = try tls()
            } catch {
                section.report(
                    section.origin, "\"certificate\" and \"key\" are not a certificate (PEM) and its key: \(error)")
            }
        }
        // With only trusted proxies, no client sends a token, and other clients are rejected.
        guard !isLoopback, trustedProxies.isEmpty || section.has("token-hash") else { return }
        if !section.has("token-hash") {
            section.reportMissing(
                "token-hash",
                "other machines can reach \(host) and would see all beacons; \"beacond token\" creates a token and prints this line"
            )
        }
        if certificate == nil {
            section.warn(
                "the token and all data cross the network without encryption; write \"certificate\" and \"key\", or "
                    + "use a proxy on this machine")
        }
    }

    /// Returns the address for a value that is an address or a port instead of true or false.
    private static func meantAddress(_ text: String) -> String? {
        guard text.contains(where: { ".:".contains($0) }) || Int(text) ?? 0 > 1, let (host, port) = address(text) else {
            return nil
        }
        return authority(host, port)
    }

    private mutating func readTrustedProxies(_ section: ConfigurationSection) -> Bool {
        let what = "write the addresses of proxies, such as [172.30.32.2]"
        let proxies = section.texts("trusted-proxies", what)
        for proxy in proxies ?? [] {
            // In the system's form, regardless of the form in the file.
            if let address = try? SocketAddress(ipAddress: proxy.value, port: 0).plainAddress {
                trustedProxies.insert(address)
                if Self.isLoopback(address), !section.has("token-hash") {
                    section.reading.report(
                        proxy.origin,
                        "\(section.subject)\"trusted-proxies\" has \(address), the address from which every program of this machine "
                            + "connects, so none of them needs a token; write a \"token-hash\"", severity: .warning)
                }
            } else {
                section.report(
                    proxy.origin, "\"trusted-proxies\" has \"\(proxy.value)\", which is not an address; \(what)")
            }
        }
        return proxies != nil
    }

    /// Reports `*` among the names if no proxy of another machine checks names.
    private func checkNames(_ section: ConfigurationSection) {
        guard names.contains(Self.anyName), trustedProxies.allSatisfy(Self.isLoopback) else { return }
        section.report(
            section.origin,
            "\"names\" has \"*\", which is for proxies of other machines under \"trusted-proxies\"; write each name")
    }

    /// Returns the parts of `HOST:PORT`, where the port may be missing and IPv6 is in brackets.
    private static func address(_ text: String) -> (host: String, port: Int)? {
        // A port alone, of this machine.
        if let port = Int(text) { return 1...65_535 ~= port ? (WebSettings().host, port) : nil }
        guard let address = try? HostAndPort(text, ports: 0...65_535) else { return nil }
        return (address.host, address.port.map(Int.init) ?? defaultPort)
    }
}

extension SocketAddress {
    /// The address without its port, in a canonical form for comparisons; nil for sockets without an address.
    ///
    /// A socket of IPv6 gives IPv4 addresses as `::ffff:192.0.2.1` (RFC 4291, 2.5.5.2); here they are IPv4 addresses.
    package var plainAddress: String? {
        guard let text = ipAddress else { return nil }
        let mapped = "::ffff:"
        return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
    }
}

extension EventStoreSettings.Retention {
    /// Creates the limits of a console's history; nil for no console.
    package init(_ settings: WebSettings?) {
        guard let settings else {
            self = .none
            return
        }
        self.init(age: settings.historyAge, events: settings.historyEntries)
    }
}
