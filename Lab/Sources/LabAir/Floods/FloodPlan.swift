/// How much a flood sends.
public struct FloodPlan: Hashable, Sendable {
    /// Adverts a second that are nobody's beacons.
    public var foreignRate: Int

    /// Numbered iBeacon adverts a second.
    public var beaconRate: Int

    /// How long, in seconds.
    public var duration: Int

    /// A plan from its parts.
    public init(foreignRate: Int, beaconRate: Int, duration: Int) {
        self.foreignRate = foreignRate
        self.beaconRate = beaconRate
        self.duration = duration
    }
}
