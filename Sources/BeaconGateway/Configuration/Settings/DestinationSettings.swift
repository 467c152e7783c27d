import BeaconConfiguration
public import BeaconDelivery
import BeaconMQTT
import Foundation
import Logging

/// A destination of notifications.
public struct DestinationSettings: Hashable, Sendable {
    /// The kind of a destination, with its own settings.
    public enum Kind: Hashable, Sendable {
        /// An HTTP address that receives requests.
        case webhook(WebhookSettings)
        /// Kumulos, or a compatible server. Without an install id, one is created once and stored.
        case kumulos(KumulosSettings)
        /// An MQTT broker.
        case mqtt(BrokerSettings)

        /// The keyword in the configuration.
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
    /// A destination whose type is not read yet.
    private struct Head {
        var name: String?
        var type: Word?
    }

    private enum Word: String, CaseIterable {
        case webhook, kumulos, mqtt
    }

    /// Names of Home Assistant, for which an error suggests a broker.
    private static let meant = Dictionary(
        uniqueKeysWithValues: ["homeassistant", "home-assistant", "home_assistant", "hass"].map {
            ($0, "mqtt, with \"home-assistant: true\",")
        })

    private static let words = Word.allCases.map { ($0.rawValue, $0) }

    private static let head = Grammar<Head>(
        Head(),
        [
            Setting(
                "name", \.name, .name("destination"), required: .remedyForName(of: "destination"),
                "The name in messages and of its queue. A renamed destination is a new one."),
            Setting(
                "type", \.type, .word(words, meant: meant), required: "write webhook, kumulos or mqtt",
                "The kind of destination, which determines the further keys."),
        ])

    /// The keys that every destination has.
    private static let choice = Grammar<Self>(
        DestinationSettings(name: "", kind: .mqtt(BrokerSettings())),
        [
            Setting(
                "regions", \.regions, .names(of: "region"), default: "all", "The regions whose events it receives."),
            Setting(
                "events", \.events,
                .words(NotificationRules.kindWords + [(BeaconNotification.Kind.heartbeat.rawValue, .heartbeat)]),
                default: "all", "The kinds of event that it receives."),
        ])

    /// The shape of a list of destinations.
    static var shape: SettingShape {
        .items(
            .variants(
                head.descriptions + choice.descriptions, key: "type",
                [
                    ("webhook", WebhookSettings.grammar.descriptions),
                    ("kumulos", KumulosSettings.grammar.descriptions), ("mqtt", BrokerSettings.grammar.descriptions),
                ]))
    }

    /// Reads all destinations of a configuration, after its regions and beacons.
    static func read(_ root: ConfigurationSection, in configuration: GatewayConfiguration) -> [DestinationSettings] {
        var clients: [BrokerSettings.Client: String] = [:]
        let what = "write a list of destinations, each beginning with \"- name:\""
        return root.items("destinations", what) { section in
            guard let settings = read(item: section, in: configuration) else { return nil }
            if case .mqtt(let broker) = settings.kind { section.compare(broker, of: settings.name, with: &clients) }
            return settings
        }
    }

    /// Reads one destination.
    static func read(
        item section: ConfigurationSection, in configuration: GatewayConfiguration
    ) -> DestinationSettings? {
        var start = Head()
        _ = head.fill(&start, from: section)
        // The other keys depend on the type.
        guard let word = start.type else { return nil }
        var settings = choice.blank
        _ = choice.fill(&settings, from: section)
        let kind = kind(word, section, start.name ?? "")
        section.finish()
        guard let name = start.name, let kind else { return nil }
        (settings.name, settings.kind) = (name, kind)
        if section.isFaultless { section.build(settings, in: configuration) }
        return settings
    }

    /// Returns how this destination and another one of the same broker would disturb each other; nil if they do not.
    func conflict(with other: DestinationSettings) -> String? {
        guard case .mqtt(let broker) = kind, case .mqtt(let known) = other.kind,
            let client = broker.clients.first(where: known.clients.contains)
        else { return nil }
        return client.fault(of: other.name)
    }

    private static func kind(_ word: Word, _ section: ConfigurationSection, _ name: String) -> Kind? {
        switch word {
        case .webhook: WebhookSettings.grammar.read(section, hasOthers: true).map(Kind.webhook)
        case .kumulos: KumulosSettings.grammar.read(section, hasOthers: true).map(Kind.kumulos)
        case .mqtt: BrokerSettings.read(section, name).map(Kind.mqtt)
        }
    }
}

extension ConfigurationSection {
    /// Builds a destination as a run does, without effects, and reports errors.
    fileprivate func build(_ settings: DestinationSettings, in configuration: GatewayConfiguration) {
        var logger = Logger(label: "beacond")
        logger.logLevel = .critical
        do {
            _ = try ConfiguredDestination(settings, in: configuration, stateFolder: nil, logger: logger)
        } catch {
            report("\(error)")
        }
        switch settings.kind {
        case .webhook(let webhook):
            webhook.signingSecrets.forEach(warnOfSigning)
            if !webhook.signingSecrets.isEmpty || !webhook.headers.isEmpty { warnOfSecretsInTheOpen(to: webhook.url) }
        case .kumulos(let kumulos): warnOfSecretsInTheOpen(to: kumulos.baseURL)
        case .mqtt(let broker):
            let connection = broker.connection
            // An explicit "tls: false" is a decision, for example of Home Assistant's app in the supervisor's network.
            if connection.password != nil, !has("tls") {
                warnOfSecretsInTheOpen(
                    to: connection.host, "set \"tls\", or write \"tls: false\" if you trust the network")
            }
            if broker.homeAssistant.isEnabled, broker.homeAssistant.announcesRegions {
                warnOfEqualRegions(configuration.namedRegions(for: settings))
            }
            if broker.homeAssistant.isEnabled, broker.homeAssistant.announcesPlaces {
                warnOfEqualPlaces(configuration.namedPlaces)
            }
        }
    }

    /// Warns of regions with the same beacons. Home Assistant identifies all but one of them by name.
    private func warnOfEqualRegions(_ regions: [NamedRegion]) {
        var names: [String: String] = [:]
        for region in regions {
            guard let other = names.updateValue(region.name, forKey: region.key) else { continue }
            warn(
                "the regions \"\(other)\" and \"\(region.name)\" match the same beacons, so one of them becomes "
                    + "a new device of Home Assistant when it is renamed; give it an \"id\"")
        }
    }

    /// Warns of places with the same id. Home Assistant identifies all but one of them by name.
    private func warnOfEqualPlaces(_ places: [NamedPlace]) {
        var names: [String: String] = [:]
        for place in places {
            guard let other = names.updateValue(place.name, forKey: place.key) else { continue }
            warn(
                "the places \"\(other)\" and \"\(place.name)\" have the same id, \"\(place.key)\", so one of them becomes "
                    + "a new device of Home Assistant when it is renamed; give it another \"id\"")
        }
    }

    /// Reports a destination that would disconnect another one of the same broker, or overwrite its retained messages.
    fileprivate func compare(
        _ broker: BrokerSettings, of name: String, with known: inout [BrokerSettings.Client: String]
    ) {
        for client in broker.clients {
            if let other = known.updateValue(name, forKey: client) {
                report(client.fault(of: other))
            }
        }
    }
}
