import BeaconConfiguration
import BeaconFleet
import BeaconNATS
import BeaconSupport
import Foundation
import Yams

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
            // A secret that cannot be read is reported already. Faults that follow from it are not.
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

extension GatewayConfiguration {
    /// Joins the fleet of an address, with the other settings of the file.
    ///
    /// - Returns: false for an invalid address.
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
