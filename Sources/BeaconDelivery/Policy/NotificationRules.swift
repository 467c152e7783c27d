public import BeaconEngine

/// What counts as news.
///
/// The defaults are those of the Kumulos recipe: a beacon is told of when it is new or at another nearness than in the
/// report before, not each second, "which will be network and battery intensive".
public struct NotificationRules: Hashable, Sendable {
    /// The kinds that are told. ``BeaconNotification/Kind/heartbeat`` goes by ``heartbeatInterval`` alone.
    public var kinds: Set<BeaconNotification.Kind> = [.enter, .exit, .proximity]

    /// The names of the regions that are told of; nil for all. It goes for heartbeats, too.
    public var regions: Set<String>?

    /// How near a beacon has to be for its proximity to be told: `near` stands for near or immediate, and `far` for any
    /// that can be told. Nil, or `unknown`, for any at all.
    ///
    /// What is passed over still counts as the report before: a beacon that went from near to far and comes back to near
    /// is news again, as in the recipe.
    public var minimumProximity: Proximity?

    /// For how long a beacon whose proximity was told of is not told of again, at one receiver and in one region. A
    /// change within that time is told at its end, if it still stands then.
    public var coolDown: Duration = .zero

    /// How often to tell who is present where; nil for never.
    public var heartbeatInterval: Duration?

    /// How many beacons are remembered, each at one receiver and in one region. Where more are present, those that came
    /// last are not told of, which ``NotificationPolicy/ignoredBeacons`` counts. Each takes some 100 bytes.
    public var maximumBeacons = 10_000

    /// How many beacons a heartbeat lists in a region, nearest first.
    public var maximumBeaconsInHeartbeat = 100

    /// The defaults.
    public init() {}
}
