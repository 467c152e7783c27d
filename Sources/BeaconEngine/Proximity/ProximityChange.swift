public import BeaconModel

/// A change of a beacon's proximity: the input of all decisions about near, staying and gone beacons.
public struct ProximityChange: Hashable, Sendable {
    /// The state of a beacon at the nearest receiver that hears it.
    public enum State: Hashable, Sendable, Codable {
        /// The beacon is heard at this proximity, which may be unknown.
        case at(Proximity)
        /// Unknown, because the receiver that heard it is deaf or was deaf a short time ago. Not hearing is not
        /// absence.
        case doubtful
        /// The receivers hear, but no longer hear the beacon.
        case gone

        /// The proximity; nil if the beacon is gone or doubtful.
        var proximity: Proximity? { if case .at(let proximity) = self { proximity } else { nil } }
        /// The rank of the proximity; higher is nearer.
        var rank: Int { proximity?.rank ?? -1 }
    }

    /// The time of the change.
    public var time: Timestamp
    /// The newest time at which the previous state still held.
    public var heldUntil: Timestamp
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The new state.
    public var state: State
    /// True if the state holds until the next change. False for an app, which reports arrivals and never departures.
    public var lasts: Bool

    /// Creates a change from its parts.
    public init(
        _ beacon: BeaconIdentity, _ state: State, at time: Timestamp, heldUntil: Timestamp? = nil, lasts: Bool = true
    ) {
        (self.beacon, self.state, self.time, self.lasts) = (beacon, state, time, lasts)
        self.heldUntil = heldUntil ?? time
    }
}

/// A condition on a beacon that ``ProximityMachine`` evaluates.
public enum ProximityCondition: Hashable, Sendable, Codable {
    /// The beacon has come at least this near and stayed so for a duration. Zero means at once.
    case near(Proximity, for: Duration)
    /// The beacon is gone.
    case gone
    /// The beacon's proximity has changed to one at least this near. Another change within the cool-down waits for its
    /// end, and counts if it still holds. With `hasGone`, a beacon that is gone counts too.
    case change(atLeast: Proximity, coolDown: Duration, hasGone: Bool)
}

/// A condition that a beacon has met, with the time.
public struct ProximityMatch: Hashable, Sendable {
    /// The time of the change or of the deadline.
    public var time: Timestamp
    /// The condition.
    public var condition: ProximityCondition
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The beacon's proximity; nil if it is gone.
    public var proximity: Proximity?
}
