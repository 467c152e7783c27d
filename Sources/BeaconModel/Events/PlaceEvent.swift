/// A beacon has come into a place, has left it, or is somewhere that can no longer be told.
public struct PlaceEvent: Hashable, Sendable {
    /// The whole second at which it was decided, by the clock of its source.
    public var time: Timestamp
    /// The beacon.
    public var identity: BeaconIdentity
    /// `inside` where the beacon is in a place, `outside` where it is in none, and `unknown` where the receivers that
    /// hear cannot tell.
    public var state: RegionState
    /// The place that the beacon is in, where it is in one.
    public var place: String?
    /// The place that it was known to be in last; nil where that was none, or nothing was known.
    public var before: String?
    /// The receiver that hears the beacon strongest in the place.
    public var receiver: String?
    /// The level there in dBm, as a mean of some seconds.
    public var level: Double?
    /// The decibels by which the place leads, in level or in likeness to what was taught; nil where no other place is
    /// in question.
    public var margin: Double?
    /// The place that comes next; nil where none is in question.
    public var runnerUp: String?

    /// Creates an event from its parts.
    public init(
        time: Timestamp, identity: BeaconIdentity, state: RegionState, place: String?, before: String?,
        receiver: String? = nil, level: Double? = nil, margin: Double? = nil, runnerUp: String? = nil
    ) {
        self.time = time
        self.identity = identity
        self.state = state
        self.place = place
        self.before = before
        self.receiver = receiver
        self.level = level
        self.margin = margin
        self.runnerUp = runnerUp
    }
}

/// Where all beacons are that are located, in one second.
public struct LocatingEvent: Hashable, Sendable {
    /// The whole second, by the clock of its source.
    public var time: Timestamp
    /// The beacons as a change would give them now, in the order in which they were first heard.
    public var beacons: [PlaceEvent]

    /// Creates a report from its parts.
    public init(time: Timestamp, beacons: [PlaceEvent]) {
        self.time = time
        self.beacons = beacons
    }
}
