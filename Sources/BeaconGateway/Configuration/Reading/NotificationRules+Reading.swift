import BeaconDelivery
import BeaconEngine

extension NotificationRules {
    /// The kinds that can be chosen; heartbeats go by their interval.
    static let kindWords: [(String, BeaconNotification.Kind)] =
        [.enter, .exit, .proximity, .gone].map { ($0.rawValue, $0) }

    static func read(_ section: ConfigurationSection, regions: Set<String>) -> NotificationRules {
        var rules = NotificationRules()
        if let kinds = section.choices("news", kindWords) { rules.kinds = Set(kinds) }
        rules.regions = section.regionNames("regions", defined: regions)
        rules.minimumProximity =
            section.choice("minimum-proximity", [("immediate", .immediate), ("near", .near), ("far", .far)])?.value
        if let coolDown = section.durationOrOff("cool-down", .zero...(.seconds(86_400))) {
            rules.coolDown = coolDown ?? .zero
        }
        if let heartbeat = section.durationOrOff("heartbeat", .seconds(1)...(.seconds(7 * 86_400))) {
            rules.heartbeatInterval = heartbeat
        }
        section.finish()
        return rules
    }
}
