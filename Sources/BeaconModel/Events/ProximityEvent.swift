/// An event of one beacon for which a program runs: it has come as near as a rule requires, has stayed so for a time,
/// or is gone.
public struct ProximityEvent: Hashable, Sendable {
    /// The whole second of the report that showed it; for a stay, the end of its duration.
    public var time: Timestamp
    /// The receiver's name.
    public var receiver: String
    /// Its name in JSON: `proximity`, `stays` or `gone`.
    public var name: String
    /// The required proximity; nil if the beacon is gone.
    public var reached: Proximity?
    /// The duration of its stay; zero if none was required.
    public var duration = Duration.zero
    /// The current or last listing of the beacon.
    public var beacon: RangedBeacon
    /// The ranged constraint; nil for every beacon.
    public var constraint: BeaconConstraint?

    /// Creates an event from its parts.
    public init(
        time: Timestamp, receiver: String, name: String, beacon: RangedBeacon, constraint: BeaconConstraint?
    ) {
        self.time = time
        self.receiver = receiver
        self.name = name
        self.beacon = beacon
        self.constraint = constraint
    }
}
