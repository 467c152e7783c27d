/// How much a beacon's distance and signal have to change to be published.
///
/// A beacon is ranged once a second. Published as often, ten beacons make 24 million rows in a fortnight in the database
/// of who records them, which users of other gateways saw happen.
public struct MQTTStateOptions: Hashable, Sendable {
    /// The least time between two messages for which only distance or signal are the reason. Presence and proximity are
    /// published when they change.
    public var minimumInterval: Duration

    /// By how many metres a distance has to change, or by a fifth of itself where that is more: the estimate's error grows
    /// with the distance.
    public var distanceChange: Double

    /// By how many dB a signal has to change. Of a beacon and a receiver that do not move it wanders by about 4.
    public var rssiChange: Int

    /// At most each 10 s, for half a metre or 6 dB.
    public init(minimumInterval: Duration = .seconds(10), distanceChange: Double = 0.5, rssiChange: Int = 6) {
        self.minimumInterval = minimumInterval
        self.distanceChange = distanceChange
        self.rssiChange = rssiChange
    }
}
