import BeaconConfiguration
public import BeaconDelivery
import BeaconMQTT
import Foundation
import Logging
import Yams

/// A destination of notifications.
public struct DestinationSettings: Hashable, Sendable {
    /// The kind of a destination, with its own settings.
    public enum Kind: Hashable, Sendable {
        /// An address that receives requests by HTTP.
        case webhook(WebhookSettings)
        /// Kumulos, or a stand-in for it.
        case kumulos(KumulosSettings)
        /// An MQTT broker.
        case mqtt(MQTTSettings)

        /// The word for it in the configuration.
        package var word: String {
            switch self {
            case .webhook: "webhook"
            case .kumulos: "kumulos"
            case .mqtt: "mqtt"
            }
        }
    }

    /// The name in messages, in `beacond outbox`, and of its queue.
    public var name: String

    /// The kind.
    public var kind: Kind

    /// The regions whose notifications it receives; nil for all.
    public var regions: Set<String>?

    /// The kinds of notification that it receives; nil for all.
    public var events: Set<BeaconNotification.Kind>?

    /// Creates the settings of a destination, by default for all notifications.
    public init(
        name: String, kind: Kind, regions: Set<String>? = nil, events: Set<BeaconNotification.Kind>? = nil
    ) {
        self.name = name
        self.kind = kind
        self.regions = regions
        self.events = events
    }
}

extension DestinationSettings {
    private enum Word: String, CaseIterable {
        case webhook, kumulos, mqtt
    }

    /// What Home Assistant hears by, which has many names.
    private static let meant = Dictionary(
        uniqueKeysWithValues: ["homeassistant", "home-assistant", "home_assistant", "hass"].map {
            ($0, "mqtt, with \"home-assistant: true\",")
        })

    /// Reads all destinations of a configuration whose regions and beacons were read.
    static func read(_ root: ConfigurationSection, in configuration: GatewayConfiguration) -> [DestinationSettings] {
        var names: Set<String> = []
        var clients: [MQTTSettings.Client: String] = [:]
        let regions = Set(configuration.regions.map(\.name))
        let what = "write a list of destinations, each beginning with \"- name:\""
        return root.items("destinations", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            let faults = root.reading.diagnostics.count
            let name = section.name("destination", known: &names)
            let words = Word.allCases.map { ($0.rawValue, $0) }
            guard let word: Word = section.choice("type", words, meant: Self.meant)?.value else {
                if !section.has("type") {
                    section.reportMissing("type", "write \(ConfigurationSection.list(words.map(\.0)))")
                }
                // The other keys depend on the type.
                return nil
            }
            let allowed = section.regionNames("regions", defined: regions)
            let events = section.choices(
                "events", NotificationRules.kindWords + [(BeaconNotification.Kind.heartbeat.rawValue, .heartbeat)])
            let kind: Kind? =
                switch word {
                case .webhook: WebhookSettings.read(section).map(Kind.webhook)
                case .kumulos: KumulosSettings.read(section).map(Kind.kumulos)
                case .mqtt: MQTTSettings.read(section).map(Kind.mqtt)
                }
            section.finish()
            guard let name, let kind else { return nil }
            let settings = DestinationSettings(
                name: name, kind: kind, regions: allowed, events: events.map { Set($0) })
            if root.reading.diagnostics.count == faults { section.build(settings, in: configuration) }
            if case .mqtt(let broker) = kind { section.compare(broker, of: name, with: &clients) }
            return settings
        }
    }
}

extension ConfigurationSection {
    /// Builds a destination as running does, without effects, and reports what makes that impossible.
    fileprivate func build(_ settings: DestinationSettings, in configuration: GatewayConfiguration) {
        var logger = Logger(label: "beacond")
        logger.logLevel = .critical
        do {
            _ = try ConfiguredDestination(settings, in: configuration, stateFolder: nil, logger: logger)
        } catch {
            report(origin, "\(subject)\(error)")
        }
        switch settings.kind {
        case .webhook(let webhook):
            if webhook.signingSecret != nil || !webhook.headers.isEmpty { warnOfSecretsInTheOpen(to: webhook.url) }
        case .kumulos(let kumulos):
            if let url = kumulos.url { warnOfSecretsInTheOpen(to: url) }
        case .mqtt(let broker):
            if broker.password != nil, broker.tls == nil { warnOfSecretsInTheOpen(to: broker.host, "set \"tls\"") }
            if broker.homeAssistantOptions.isEnabled, broker.homeAssistantOptions.announcesRegions {
                warnOfEqualRegions(configuration.namedRegions(for: settings))
            }
        }
    }

    /// Warns of regions that match the same beacons: Home Assistant knows all but one of them by their names.
    private func warnOfEqualRegions(_ regions: [NamedRegion]) {
        var names: [String: String] = [:]
        for region in regions {
            guard let other = names.updateValue(region.name, forKey: region.key) else { continue }
            reading.report(
                origin,
                "\(subject)the regions \"\(other)\" and \"\(region.name)\" match the same beacons, so that one of them is "
                    + "another device of Home Assistant once it is renamed; give it an \"id\"", severity: .warning)
        }
    }

    /// Reports a destination that would drive another one of the same broker away, or write over what that retains.
    fileprivate func compare(
        _ broker: MQTTSettings, of name: String, with known: inout [MQTTSettings.Client: String]
    ) {
        for client in broker.clients(of: name) {
            if let other = known.updateValue(name, forKey: client) {
                report(origin, "\(subject)\(client.fault(of: other)); give one of them another \"\(client.key)\"")
            }
        }
    }
}
