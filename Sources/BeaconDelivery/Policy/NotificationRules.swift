public import BeaconModel

/// The rules by which ``NotificationPolicy`` selects notifications.
///
/// The defaults follow the Kumulos recipe: a beacon's proximity is reported when the beacon is new or its proximity
/// differs from the previous report, not each second, "which will be network and battery intensive".
public struct NotificationRules: Hashable, Sendable {
    /// The kinds of notification to send. ``BeaconNotification/Kind/heartbeat`` depends on ``heartbeatInterval`` alone.
    public var kinds: Set<BeaconNotification.Kind> = [.enter, .exit, .proximity, .place, .suspicious]

    /// The names of the regions to report, also in heartbeats; nil for all.
    public var regions: Set<String>?

    /// The farthest proximity to report: `near` stands for near or immediate, and `far` for any known proximity. Nil or
    /// `unknown` reports any proximity.
    ///
    /// A farther proximity still counts as the beacon's last one. A beacon that went from near to far and returns to
    /// near is reported again, as in the recipe.
    public var minimumProximity: Proximity?

    /// The time after reporting a beacon's proximity during which it is not reported again, for each receiver and
    /// region. A change within that time is reported at its end, if it still holds then.
    public var coolDown: Duration = .zero

    /// The interval between heartbeats; nil for none.
    public var heartbeatInterval: Duration?

    /// The number of beacons to remember, counted for each receiver and region. Beacons beyond this number are not
    /// reported, and ``NotificationPolicy/ignoredBeacons`` counts them. Each takes about 100 bytes.
    public var maximumBeacons = 10_000

    /// The number of beacons that a heartbeat lists for a region, nearest first.
    public var maximumBeaconsInHeartbeat = 100

    /// Creates the default rules.
    public init() {}
}
