import BeaconConfiguration
import BeaconModel
import BeaconNATS
import BeaconSupport
import Foundation
import Yams

/// A machine's part in a fleet.
public struct FleetSettings: Hashable, Sendable {
    /// The longest name of a machine in bytes: with the number of a source behind it, as long as those who listen take.
    static let longestNode = 56

    /// The most partitions: more than anybody has processors.
    static let mostPartitions = 1024

    /// What the machines meet by.
    enum Meeting: Hashable, Sendable {
        /// NATS servers.
        case nats(NATSOptions)
        /// Nothing but this process: a fleet of one.
        case local
    }

    var meeting: Meeting
    /// The name of the fleet; several can share servers.
    var name = "beacons"
    /// The machine's name, which no other of the fleet has.
    var node: String
    /// The number of partitions of a fleet that begins with this machine.
    var partitions = 16
    /// The servers that keep what must not be lost.
    var replicas = 3
    /// Whether the machine owns partitions.
    var works = true
    /// Whether it may deliver.
    var delivers = true

    /// The text of a fleet of one.
    private static let local = "local"

    /// Reads where a fleet meets.
    ///
    /// - Parameter address: `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…`, `tls://…` or `local`.
    /// - Throws: an error that quotes nothing of the address.
    public init(_ address: String) throws {
        meeting = address == Self.local ? .local : .nats(try NATSOptions(address))
        node = Self.machine
    }

    private static var machine: String {
        let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return name.isEmpty ? "beacond" : String(name)
    }

    /// The servers for people.
    var title: String {
        switch meeting {
        case .nats(let options): options.title
        case .local: "this process"
        }
    }

    /// What is wrong, each with its remedy.
    func mistakes() -> [String] {
        var mistakes: [String] = []
        if case .nats(let options) = meeting { mistakes += options.mistakes() }
        if !Self.isName(name) {
            mistakes.append(
                "\"name\" is \"\(name.printable)\"; write 1 to 64 letters of English, digits, hyphens and underscores")
        }
        if node.isEmpty || node.utf8.count > Self.longestNode || node.contains(FleetRelay.separator) {
            mistakes.append(
                "\"node\" is \"\(node.printable)\"; write a name of 1 to \(Self.longestNode) bytes without a number sign, which no other machine has"
            )
        }
        return mistakes
    }

    /// Returns whether a text can be a fleet's name, by which streams of NATS are called.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}

extension GatewayConfiguration {
    /// Has the machine join the fleet of an address, with the other settings that the file has.
    ///
    /// - Returns: false where the address is none.
    @discardableResult
    public mutating func join(_ address: String) -> Bool {
        guard let settings = try? FleetSettings(address) else { return false }
        guard var own = fleet else {
            fleet = settings
            return true
        }
        own.meeting = settings.meeting.keeping(own.meeting)
        fleet = own
        return true
    }
}

extension FleetSettings.Meeting {
    /// These servers with the credentials of others, where they have none of their own.
    fileprivate func keeping(_ other: Self) -> Self {
        guard case .nats(var options) = self, case .nats(let before) = other else { return self }
        options.user = options.user ?? before.user
        options.password = options.password ?? before.password
        options.token = options.token ?? before.token
        options.credentialsFile = options.credentialsFile ?? before.credentialsFile
        options.authorityFile = options.authorityFile ?? before.authorityFile
        options.certificateFile = options.certificateFile ?? before.certificateFile
        options.keyFile = options.keyFile ?? before.keyFile
        return .nats(options)
    }
}

extension FleetSettings {
    /// What `fleet` may be.
    static let form = "write nats://HOST, several hosts with commas between them, or a mapping with \"servers\""

    private static func readAddress(
        _ text: Located<String>, _ key: String, of section: ConfigurationSection
    ) -> FleetSettings? {
        do {
            return try FleetSettings(text.value)
        } catch {
            section.report(text.origin, "\"\(key)\" is \"\(text.value.shownAddress)\": \(error). Or \(form)")
            return nil
        }
    }

    /// Reads `fleet: nats://…`, or a mapping; nil where the machine is in none.
    static func read(_ root: ConfigurationSection) -> FleetSettings? {
        guard let node = root.node("fleet") else { return nil }
        guard case .mapping = node else {
            guard let text = root.text("fleet", form) else { return nil }
            guard let settings = readAddress(text, "fleet", of: root) else { return nil }
            for fault in settings.mistakes() { root.report(text.origin, "\"fleet\": \(fault)") }
            return settings
        }
        let section = root.section("fleet")
        let servers = section.text("servers", form)
        let read = servers.flatMap { readAddress($0, "servers", of: section) }
        var settings = read ?? (try? FleetSettings(local))
        if let name = section.text("name") { settings?.name = name.value }
        if let node = section.text("node") { settings?.node = node.value }
        if let count = section.integer("partitions", 1...mostPartitions) { settings?.partitions = count.value }
        if let count = section.integer("replicas", 1...5) { settings?.replicas = count.value }
        if let works = section.boolean("works") { settings?.works = works }
        if let delivers = section.boolean("delivers") { settings?.delivers = delivers }
        var isWhole = true
        if case .nats(var options) = settings?.meeting {
            if let user = section.text("user") { options.user = user.value }
            // A secret that cannot be read was told, and what follows from it is no fault of its own.
            for (key, place) in [("password", \NATSOptions.password), ("token", \NATSOptions.token)]
            where section.has(key) {
                let secret = section.secret(key)
                options[keyPath: place] = secret
                if secret == nil { isWhole = false }
            }
            if let file = section.existingFile("credentials-file") { options.credentialsFile = file }
            if let file = section.existingFile("ca-file") { options.authorityFile = file }
            if let file = section.existingFile("certificate-file") { options.certificateFile = file }
            if let file = section.existingFile("key-file") { options.keyFile = file }
            settings?.meeting = .nats(options)
        } else {
            for key in ["user", "password", "token", "credentials-file", "ca-file", "certificate-file", "key-file"] {
                _ = section.node(key)
            }
        }
        section.finish()
        guard section.has("servers") else {
            section.reportMissing("servers", form)
            return nil
        }
        guard read != nil else { return nil }
        for fault in isWhole ? settings?.mistakes() ?? [] : [] {
            section.report(section.origin, "\(section.subject)\(fault)")
        }
        return settings
    }
}
