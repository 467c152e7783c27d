import BeaconConfiguration
import BeaconFleet
import BeaconModel
import BeaconNATS
import BeaconSupport
import Foundation

extension FleetSettings {
    /// The forms of `fleet`.
    static let form = "write nats://HOST, several hosts with commas between them, or a mapping with \"servers\""

    /// The keys of a fleet.
    static let grammar = Grammar<Self>(
        FleetSettings(),
        [
            Setting(
                "servers", .text(), required: form,
                "The NATS servers, as `nats://HOST`, `tls://HOST`, or several hosts with commas; `local` for a fleet of one."
            ) { section, settings in
                guard let transport = read("servers", of: section)?.transport else { return false }
                settings.transport = transport
                return true
            },
            Setting("name", \.name, .text(), "The fleet's name; several can share servers."),
            Setting(
                "node", \.node, .text(), default: "the machine's name", "The machine's name, which must be unique."),
            Setting(
                "partitions", \.partitions, .integer(1...maximumPartitions),
                "The number of partitions, if this machine is the first of the fleet."),
            Setting(
                "replicas", \.replicas, .integer(1...5), "The number of servers that store data that must not be lost."),
            Setting("works", \.works, .boolean, "The machine decides on some of the beacons."),
            Setting("delivers", \.delivers, .boolean, "The machine may deliver notifications."),
        ] + NATSSettings.grammar.settings.map { $0.within(\.servers).reading(if: \.hasServers) }
    ) { section, settings, isWhole in
        guard isWhole else { return false }
        // An unreadable secret is already reported, so do not report the faults that follow from it.
        let secrets = [("password", settings.servers.password), ("token", settings.servers.token)]
        guard !settings.hasServers || secrets.allSatisfy({ !section.has($0.0) || $0.1 != nil }) else { return true }
        for fault in settings.mistakes() { section.report(fault) }
        return true
    }

    /// Reads `fleet: nats://…`, or a mapping; nil if the machine is in no fleet.
    static func read(_ root: ConfigurationSection) -> FleetSettings? {
        if case .object? = root.value("fleet") { return grammar.read(root.section("fleet")) }
        guard let settings = read("fleet", of: root) else { return nil }
        for fault in settings.mistakes() { root.report(root.origin(of: "fleet"), "\"fleet\": \(fault)") }
        return settings
    }

    private static func read(_ key: String, of section: ConfigurationSection) -> FleetSettings? {
        guard let text = section.text(key, form) else { return nil }
        do {
            return try FleetSettings(text)
        } catch {
            section.report(section.origin(of: key), "\"\(key)\" is \"\(text.shownAddress)\": \(error). Or \(form)")
            return nil
        }
    }
}

extension NATSSettings {
    /// The keys of the credentials for NATS servers.
    static let grammar = Grammar<Self>(
        NATSSettings(servers: []),
        [
            Setting("user", \.user, .text(), "The user, if the servers require one."),
            Setting("password", \.password, .secret, "The user's password."),
            Setting("token", \.token, .secret, "The token, if the servers require one instead of a user."),
            Setting(
                "credentials-file", \.credentialsFile, .existingFile,
                "The file of credentials (`.creds`) of an account."),
            Setting(
                "ca-file", \.authorityFile, .existingFile, default: "the system's",
                "The certificates (PEM) of the authorities to trust."),
            Setting("certificate-file", \.certificateFile, .existingFile, "The machine's own certificate (PEM)."),
            Setting("key-file", \.keyFile, .existingFile, "The certificate's key (PEM)."),
        ])
}

extension GatewayConfiguration {
    /// Joins the fleet at an address, with the other settings of the file.
    ///
    /// - Returns: false for an invalid address.
    @discardableResult
    public mutating func join(_ address: String) -> Bool {
        guard let settings = try? FleetSettings(address) else { return false }
        guard var own = fleet else {
            fleet = settings
            return true
        }
        own.transport = settings.transport.keeping(own.transport)
        fleet = own
        return true
    }
}
