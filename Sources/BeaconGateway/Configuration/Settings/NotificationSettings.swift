import BeaconConfiguration
import BeaconDelivery
public import BeaconEventStore
import BeaconModel
import Foundation

extension NotificationRules {
    /// The kinds that can be chosen, with their keywords. Heartbeats follow their interval instead.
    static let kindWords: [(String, BeaconNotification.Kind)] =
        [.enter, .exit, .proximity, .gone, .place, .suspicious].map { ($0.rawValue, $0) }

    /// The keys of the choice of notifications.
    static let grammar = Grammar<Self>(
        NotificationRules(),
        [
            Setting("events", \.kinds, .words(kindWords), "The events that cause a notification."),
            Setting("regions", \.regions, .names(of: "region"), default: "all", "The regions whose events count."),
            Setting(
                "minimum-proximity", \.minimumProximity,
                .word([("immediate", .immediate), ("near", .near), ("far", .far)]), default: "any",
                "The farthest proximity that counts."),
            Setting(
                "cool-down", .durationOrOff(.zero...(.seconds(86_400))), default: "0s",
                "The minimum time between two notifications of a beacon's proximity; a change within it is sent at its end."
            ) { $0.coolDown = $1 ?? .zero },
            Setting(
                "heartbeat", .durationOrOff(.seconds(1)...(.seconds(7 * 86_400))), default: "off",
                "The time between notifications that list the present beacons."
            ) { $0.heartbeatInterval = $1 },
        ])
}

/// The event store, and the limits of the events that wait for a destination.
public struct OutboxSettings: Hashable, Sendable {
    /// The path of the file.
    public var path: String

    /// The limits of the events that wait for a destination. Beyond them, the oldest are dropped.
    public var limits = ConsumerLimits()

    /// Creates the settings of an event store at a path.
    public init(path: String) { self.path = path }
}

extension OutboxSettings {
    /// The keys of the queue.
    static let grammar = Grammar<Self>(
        OutboxSettings(path: ""),
        [
            Setting(
                "path", \.path, file, default: "`beacond.sqlite` in the state folder",
                "The file of events, states and queues."),
            Setting(
                "maximum-age", \.limits.age, .duration(.seconds(60)...(.seconds(366 * 86_400))),
                "The age at which an undelivered notification is dropped."),
            Setting(
                "maximum-entries", \.limits.events, .integer(1...100_000_000),
                "The most notifications that wait for a destination; beyond that, the oldest are dropped."),
            Setting(
                "maximum-size", \.limits.bytes, .bytes(65_536...(1 << 40)),
                "The most bytes that wait for a destination; beyond that, the oldest are dropped."),
        ]
    )

    /// The path of a file that can be an event store.
    private static let file = SettingKind<String>(.path) { section, key in
        guard let path = section.read(key, .path) else { return nil }
        if let fault = EventStore.fault(of: URL(fileURLWithPath: path)) {
            section.report(section.origin(of: key), "\"\(key)\": \(path) \(fault)")
        }
        return path
    }
}
