import BeaconConfiguration
package import BeaconEventStore
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import NIOCore
import Yams

/// The console in the browser and its interface: where beacond listens, and who may use it.
public struct WebSettings: Hashable, Sendable {
    /// The port that is listened on where none is given: the one at which Home Assistant looks for what it embeds
    /// (`ingress_port`).
    public static let defaultPort = 8099

    /// The address that is listened on.
    public var host = "127.0.0.1"

    /// The port; 0 for any that is free.
    public var port = Self.defaultPort

    /// The SHA-256 of the token that opens the console, in hexadecimal; nil where none is needed.
    public var tokenHash: String?

    /// The certificate chain (PEM) for HTTPS; nil for HTTP.
    public var certificate: String?

    /// The certificate's key (PEM).
    public var key: String?

    /// The names by which browsers reach this machine, beside its own: those of a reverse proxy. `*` is every name that
    /// a trusted proxy on another machine passes on.
    public var names: [String] = []

    /// The addresses of proxies that have signed their users in, as Home Assistant's ingress has. Without a token,
    /// their users may use the console as programs of this machine may.
    public var trustedProxies: Set<String> = []

    /// True where the console shows, and changes nothing.
    public var isReadOnly = false

    /// True where rules that are made in the console may start programs: whoever may use the console may then do what
    /// beacond may.
    public var allowsPrograms = false

    /// The age from which on events are forgotten.
    public var historyAge = Duration.seconds(90 * 86_400)

    /// The number of events that are kept.
    public var historyEntries = 100_000

    /// Creates the default settings: this machine alone may use it.
    public init() {}

    /// Creates the settings of a console that listens on an address and a port, as `127.0.0.1:8099`.
    ///
    /// - Returns: nil where the text is none.
    public init?(listening text: String) {
        guard let (host, port) = Self.address(text) else { return nil }
        (self.host, self.port) = (host, port)
    }

    /// True where only programs of this machine can reach it.
    public var isLoopback: Bool { Self.isLoopback(host) }

    /// Returns true for the names and addresses by which a machine reaches only itself.
    package static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) { return true }
        // A name may begin like an address, and be anybody's.
        return host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    }

    /// The address to open in a browser. Where every address of the machine is listened on, it is the first by which
    /// others reach it.
    public var address: String {
        let host = ["0.0.0.0", "::"].contains(host) ? MachineAddress.first ?? host : host
        return "\(certificate == nil ? "http" : "https")://\(Self.authority(host, port))/"
    }

    /// The address to open in a browser of another machine; nil where the console listens on this machine alone, on a
    /// port that is not known, or lets only a proxy in.
    var remoteAddress: String? {
        let isBehindProxies = !trustedProxies.isEmpty && tokenHash == nil
        guard !isLoopback, port != 0, !isBehindProxies else { return nil }
        guard ["0.0.0.0", "::"].contains(host) else { return address }
        return MachineAddress.first == nil ? nil : address
    }

    /// Returns a host and a port as an address has them: one of IPv6 is in brackets (RFC 3986, 3.2.2).
    public static func authority(_ host: String, _ port: Int) -> String {
        HostAndPort(host: host, port: UInt16(clamping: port)).description
    }
}

extension WebSettings {
    /// The entry of `names` for every name that a proxy on another machine passes on.
    package static let anyName = "*"

    private static let listen = SettingKind<(host: String, port: Int)>(
        .text(), "write an address and a port, as 127.0.0.1:8099", parse: address)

    private static let hash = SettingKind<String>(
        .text(pattern: "^[0-9A-Fa-f]{64}$"), "write the 64 hexadecimal digits that \"beacond token\" prints"
    ) { $0.count == 64 && $0.allSatisfy(\.isHexDigit) ? $0.lowercased() : nil }

    /// The keys of the console.
    static let grammar = Grammar<Self>(
        WebSettings(),
        [
            Setting(
                "listen", listen, default: "`127.0.0.1:8099`", "The address and the port that are listened on."
            ) { (settings, address) in (settings.host, settings.port) = address },
            Setting(
                "token-hash", \.tokenHash, hash,
                "The SHA-256 of the token that opens the console, as `beacond token` prints it."),
            Setting("certificate", \.certificate, .existingFile, "The certificate chain (PEM) for HTTPS."),
            Setting("key", \.key, .existingFile, "The certificate's key (PEM)."),
            Setting(
                "names", \.names, .texts("write names of this machine, as [beacons.example.com]"),
                "Further names by which browsers reach this machine, such as those of a reverse proxy."),
            Setting(
                "trusted-proxies", .list(.text()),
                "The addresses of proxies that sign their users in, as Home Assistant's ingress does.",
                read: { $1.readTrustedProxies($0) }),
            Setting("read-only", \.isReadOnly, .boolean, "The console shows, and changes nothing."),
            Setting("programs", \.allowsPrograms, .boolean, "Rules that are made in the console may start programs."),
            Setting(
                "history-age", \.historyAge, .duration(.seconds(3600)...(.seconds(3660 * 86_400))),
                "The age from which on events are forgotten."),
            Setting(
                "history-entries", \.historyEntries, .integer(100...10_000_000), "The number of events that are kept."),
        ]
    ) { section, settings, isWhole in
        settings.check(section)
        return isWhole
    }

    /// Reads `web: true`, or a mapping; nil where there is no console.
    static func read(_ root: ConfigurationSection) -> WebSettings? {
        if case .scalar? = root.node("web"), let text = root.text("web"), let listen = Self.meantAddress(text) {
            root.report(
                root.origin(of: "web"),
                "\"web\" is \"\(text)\"; write \"web: true\", or for another address \"web: { listen: '\(listen)' }\"")
            return nil
        }
        return root.read("web", .switch(grammar))
    }

    /// Reports what does not go together.
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
                    section.origin, "\"certificate\" and \"key\" are no certificate (PEM) and its key: \(error)")
            }
        }
        // By a proxy alone nobody sends a token, and whoever else asks is refused.
        guard !isLoopback, trustedProxies.isEmpty || section.has("token-hash") else { return }
        if !section.has("token-hash") {
            section.reportMissing(
                "token-hash",
                "others can reach \(host), and would see who is where; \"beacond token\" makes a token and prints this line"
            )
        }
        if certificate == nil {
            section.warn(
                "the token and all that is shown cross the network without encryption; write \"certificate\" and \"key\", or "
                    + "have a proxy on this machine do it")
        }
    }

    /// Returns the address that somebody meant who wrote it, or its port, in place of true or false.
    private static func meantAddress(_ text: String) -> String? {
        guard text.contains(where: { ".:".contains($0) }) || Int(text) ?? 0 > 1, let (host, port) = address(text) else {
            return nil
        }
        return authority(host, port)
    }

    private mutating func readTrustedProxies(_ section: ConfigurationSection) -> Bool {
        let what = "write the addresses of proxies, as [172.30.32.2]"
        let proxies = section.texts("trusted-proxies", what)
        for proxy in proxies ?? [] {
            // In the form in which the system writes it, whichever the file has.
            if let address = try? SocketAddress(ipAddress: proxy.value, port: 0).plainAddress {
                trustedProxies.insert(address)
                if Self.isLoopback(address), !section.has("token-hash") {
                    section.reading.report(
                        proxy.origin,
                        "\(section.subject)\"trusted-proxies\" has \(address), from where every program of this machine "
                            + "connects, and none of them needs a token; write a \"token-hash\"", severity: .warning)
                }
            } else {
                section.report(proxy.origin, "\"trusted-proxies\" has \"\(proxy.value)\", which is no address; \(what)")
            }
        }
        return proxies != nil
    }

    /// Reports `*` among the names where no proxy of another machine checks names.
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
    /// The address without its port, in the one form in which addresses are compared; nil for sockets without one.
    ///
    /// A socket of IPv6 gives IPv4 addresses as `::ffff:192.0.2.1` (RFC 4291, 2.5.5.2), which are IPv4's here.
    package var plainAddress: String? {
        guard let text = ipAddress else { return nil }
        let mapped = "::ffff:"
        return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
    }
}

extension EventStoreSettings.Retention {
    /// Creates the bounds of the history that a console shows; nil for no console.
    package init(_ settings: WebSettings?) {
        guard let settings else {
            self = .none
            return
        }
        self.init(age: settings.historyAge, events: settings.historyEntries)
    }
}
