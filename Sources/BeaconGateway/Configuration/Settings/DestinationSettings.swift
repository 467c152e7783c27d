public import BeaconDelivery
import Foundation
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

    /// Reads all destinations.
    static func read(_ root: ConfigurationSection, regions: Set<String>) -> [DestinationSettings] {
        var names: Set<String> = []
        let what = "write a list of destinations, each beginning with \"- name:\""
        return root.items("destinations", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            let name = section.name("destination", known: &names)
            let words = Word.allCases.map { ($0.rawValue, $0) }
            guard let word: Word = section.choice("type", words)?.value else {
                if !section.has("type") {
                    section.reportMissing("type", "write \(ConfigurationSection.list(words.map(\.0)))")
                }
                // The other keys depend on the type.
                return nil
            }
            let allowed = section.regionNames("regions", defined: regions)
            section.renamed("news", to: "events")
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
            return DestinationSettings(name: name, kind: kind, regions: allowed, events: events.map { Set($0) })
        }
    }
}
