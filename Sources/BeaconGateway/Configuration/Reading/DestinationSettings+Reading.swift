import BeaconDelivery
import Foundation
import Yams

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
                // What other keys it may have hangs on the type.
                return nil
            }
            let allowed = section.regionNames("regions", defined: regions)
            let news = section.choices(
                "news", NotificationRules.kindWords + [(BeaconNotification.Kind.heartbeat.rawValue, .heartbeat)])
            let kind: Kind? =
                switch word {
                case .webhook: WebhookSettings.read(section).map(Kind.webhook)
                case .kumulos: KumulosSettings.read(section).map(Kind.kumulos)
                case .mqtt: MQTTSettings.read(section).map(Kind.mqtt)
                }
            section.finish()
            guard let name, let kind else { return nil }
            return DestinationSettings(name: name, kind: kind, regions: allowed, news: news.map { Set($0) })
        }
    }
}
