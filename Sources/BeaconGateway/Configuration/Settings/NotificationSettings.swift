import BeaconConfiguration
import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation

extension NotificationRules {
    /// The kinds that can be chosen, by their words; heartbeats follow their interval.
    static let kindWords: [(String, BeaconNotification.Kind)] =
        [.enter, .exit, .proximity, .gone, .place, .suspicious].map { ($0.rawValue, $0) }

    static func read(_ section: ConfigurationSection, regions: Set<String>) -> NotificationRules {
        var rules = NotificationRules()
        if let kinds = section.choices("events", kindWords) { rules.kinds = Set(kinds) }
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

/// The events on the disk, and the limits of what waits for a destination.
public struct OutboxSettings: Hashable, Sendable {
    /// The path of the file.
    public var path: String

    /// The age at which an undelivered notification is dropped; nil for the default.
    public var maximumAge: Duration?

    /// The most notifications that wait for a destination, before the oldest are dropped; nil for the default.
    public var maximumEntries: Int?

    /// The most bytes that wait for a destination, before the oldest are dropped; nil for the default.
    public var maximumBytes: Int64?

    /// Creates the settings of an event store at a path.
    public init(path: String) { self.path = path }
}

extension OutboxSettings {
    mutating func read(_ section: ConfigurationSection) {
        if let path = section.filePath("path") {
            self.path = path.value
            if let fault = EventStore.fault(of: URL(fileURLWithPath: path.value)) {
                section.report(path.origin, "\"path\": \(path.value) \(fault)")
            }
        }
        if let age = section.duration("maximum-age", .seconds(60)...(.seconds(366 * 86_400))) { maximumAge = age }
        if let count = section.integer("maximum-entries", 1...100_000_000) { maximumEntries = count.value }
        if let bytes = section.bytes("maximum-size", 65_536...(1 << 40)) { maximumBytes = bytes }
        section.finish()
    }
}
