/// A moment of one beacon for which a program is run: it has come as near as somebody asked for, has stayed so for a
/// time, or is gone.
public struct ProximityEvent: Hashable, Sendable {
    /// The whole second of the report that showed it; for a stay, the end of its time.
    public var time: Timestamp
    /// The receiver's name.
    public var receiver: String
    /// The word for it in JSON: `proximity`, `stays` or `gone`.
    public var name: String
    /// The proximity that was asked for; nil where the beacon is gone.
    public var reached: Proximity?
    /// The time that it has stayed; zero where that was not asked for.
    public var duration = Duration.zero
    /// The beacon as it is listed now, or was last.
    public var beacon: RangedBeacon
    /// The constraint that is ranged; nil for every beacon.
    public var constraint: BeaconConstraint?

    /// Creates a moment from its parts.
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
