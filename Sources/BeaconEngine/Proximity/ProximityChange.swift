public import BeaconModel

/// A change of a beacon's proximity as one receiver reports it, or one app: the input of all decisions on who is near,
/// stays and is gone.
public struct ProximityChange: Hashable, Sendable {
    /// A receiver, known by its number and its name: one that gets another's number does not continue what that said.
    public struct Receiver: Hashable, Sendable {
        /// The number; zero where receivers have no numbers.
        public var id: ReceiverID
        /// The name, which need not be its alone.
        public var name: String

        /// Creates a receiver from its parts.
        public init(id: ReceiverID = ReceiverID(0), name: String) {
            self.id = id
            self.name = name
        }
    }

    /// The state of a beacon at a receiver.
    public enum State: Hashable, Sendable {
        /// The receiver hears it at this proximity, which may be unknown.
        case at(Proximity)
        /// Unknown, since the receiver is deaf or was so a moment ago. Not hearing is not absence.
        case doubtful
        /// The receiver hears, and no longer hears the beacon.
        case gone
    }

    /// The moment, by an even clock.
    public var time: Timestamp
    /// The newest moment at which the state before still held.
    public var heldUntil: Timestamp
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The receiver.
    public var receiver: Receiver
    /// The new state.
    public var state: State
    /// True where the state holds until the next change. False for one who says where a beacon came to, and never that
    /// it left: an app.
    public var lasts = true

    /// Creates a change from its parts.
    ///
    /// - Parameters:
    ///   - beacon: the beacon.
    ///   - state: the new state.
    ///   - receiver: the receiver.
    ///   - time: the moment.
    ///   - heldUntil: the newest moment at which the state before still held; nil where that is the same moment.
    public init(
        _ beacon: BeaconIdentity, _ state: State, by receiver: Receiver, at time: Timestamp,
        heldUntil: Timestamp? = nil
    ) {
        self.time = time
        self.heldUntil = heldUntil ?? time
        self.beacon = beacon
        self.receiver = receiver
        self.state = state
    }
}

/// A question about a beacon that ``ProximityMachine`` answers.
public enum ProximityCondition: Hashable, Sendable {
    /// Has it come at least as near as this, and stayed so for a time? Zero is at once.
    case near(Proximity, for: Duration)
    /// Is it gone? Then no receiver hears it.
    case gone
    /// Has its proximity changed to one at least as near as this? Another change within the cool-down waits for its
    /// end, and counts if it still holds. With `hasGone`, a beacon that is gone counts too.
    case change(atLeast: Proximity, coolDown: Duration, hasGone: Bool)
}

/// A moment at which a condition of a beacon was met.
public struct ProximityMoment: Hashable, Sendable {
    /// The moment: that of the change, or that of the deadline.
    public var time: Timestamp
    /// The condition.
    public var condition: ProximityCondition
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The receiver that hears it nearest, or heard it last.
    public var receiver: ProximityChange.Receiver
    /// Its proximity; nil where it is gone.
    public var proximity: Proximity?
}

/// The times of ``ProximityReports`` and ``ProximityMachine``, in nanoseconds.
public enum ProximityTimes {
    /// The time for which a beacon may be less near without having left, the silence that makes a receiver deaf, and
    /// the time in which an app that repeats itself reports nothing new. A choice: the classes have a hysteresis of
    /// their own, and an outage that is longer is published.
    public static let patience = 5 * Timestamp.nanosecondsPerSecond

    /// The time for which a receiver that was deaf lists again what it hears, before a beacon that it listed earlier
    /// counts as gone: as long as ranging lists a beacon that is not heard.
    public static let relisting = Engine.goneAfter

    /// The time beyond a stay for which an app has to report nothing of it: after that, a report is of another visit. A
    /// choice: as long as an event of an app is not late for a rule.
    public static let silence = 600 * Timestamp.nanosecondsPerSecond
}

extension Proximity {
    /// The order of proximities: the nearer, the more.
    var rank: Int {
        switch self {
        case .unknown: 0
        case .far: 1
        case .near: 2
        case .immediate: 3
        }
    }
}
