/// A beacon's change of place: it has entered a place, has left it, or can no longer be located.
public struct PlaceEvent: Hashable, Sendable {
    /// The whole second of the decision, by the clock of its source.
    public var time: Timestamp
    /// The beacon.
    public var identity: BeaconIdentity
    /// `inside` if the beacon is in a place, `outside` if it is in none, and `unknown` if the receivers that hear
    /// cannot decide.
    public var state: RegionState
    /// The place that the beacon is in, if any.
    public var place: String?
    /// The last known place; nil if it is unknown or was no place.
    public var before: String?
    /// The receiver that hears the beacon best in the place.
    public var receiver: String?
    /// The level at that receiver in dBm, as a mean of some seconds.
    public var level: Double?
    /// The decibels by which the place leads, in level or in similarity to the taught levels; nil if there is no other
    /// candidate.
    public var margin: Double?
    /// The next best place; nil if there is no other candidate.
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

/// The places of all located beacons in one second.
public struct LocatingEvent: Hashable, Sendable {
    /// The whole second, by the clock of its source.
    public var time: Timestamp
    /// The beacons with their current places, in the order in which they were first heard.
    public var beacons: [PlaceEvent]

    /// Creates a report from its parts.
    public init(time: Timestamp, beacons: [PlaceEvent]) {
        self.time = time
        self.beacons = beacons
    }
}
