public import BeaconModel

/// A change of a beacon's proximity: the input of all decisions on who is near, stays and is gone.
public struct ProximityChange: Hashable, Sendable {
    /// The state of a beacon, as the nearest of those who hear it has it.
    public enum State: Hashable, Sendable {
        /// It is heard at this proximity, which may be unknown.
        case at(Proximity)
        /// Unknown, since who heard it is deaf or was so a moment ago. Not hearing is not absence.
        case doubtful
        /// The receivers hear, and the beacon is not heard any longer.
        case gone

        /// The proximity; nil where it is gone or doubtful.
        var proximity: Proximity? { if case .at(let proximity) = self { proximity } else { nil } }
        /// The order of nearness.
        var rank: Int { proximity?.rank ?? -1 }
    }

    /// The moment.
    public var time: Timestamp
    /// The newest moment at which the state before still held.
    public var heldUntil: Timestamp
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The new state.
    public var state: State
    /// True where the state holds until the next change. False for one who says where a beacon came to, and never that
    /// it left: an app.
    public var lasts: Bool

    /// Creates a change from its parts.
    public init(
        _ beacon: BeaconIdentity, _ state: State, at time: Timestamp, heldUntil: Timestamp? = nil, lasts: Bool = true
    ) {
        (self.beacon, self.state, self.time, self.lasts) = (beacon, state, time, lasts)
        self.heldUntil = heldUntil ?? time
    }
}

/// A question about a beacon that ``ProximityMachine`` answers.
public enum ProximityCondition: Hashable, Sendable {
    /// Has it come at least as near as this, and stayed so for a time? Zero is at once.
    case near(Proximity, for: Duration)
    /// Is it gone?
    case gone
    /// Has its proximity changed to one at least as near as this? Another change within the cool-down waits for its
    /// end, and counts if it still holds. With `hasGone`, a beacon that is gone counts too.
    case change(atLeast: Proximity, coolDown: Duration, hasGone: Bool)
}

/// A moment at which a condition of a beacon was met.
public struct ProximityMatch: Hashable, Sendable {
    /// The moment: that of the change, or that of the deadline.
    public var time: Timestamp
    /// The condition.
    public var condition: ProximityCondition
    /// The beacon.
    public var beacon: BeaconIdentity
    /// Its proximity; nil where it is gone.
    public var proximity: Proximity?
}
