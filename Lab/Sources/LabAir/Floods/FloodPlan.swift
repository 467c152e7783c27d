/// The rates and the duration of a flood.
public struct FloodPlan: Hashable, Sendable {
    /// Foreign adverts a second.
    public var foreignRate: Int

    /// Numbered iBeacon adverts a second.
    public var beaconRate: Int

    /// The duration in seconds.
    public var duration: Int

    /// Creates a plan from its parts.
    public init(foreignRate: Int, beaconRate: Int, duration: Int) {
        self.foreignRate = foreignRate
        self.beaconRate = beaconRate
        self.duration = duration
    }
}
