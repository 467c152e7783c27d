public import BeaconEngine
public import BeaconModel

/// What a session has to say, with names in place of the engine's numbers.
public enum SessionEvent: Sendable {
    /// What became of a region.
    public enum Kind: Hashable, Sendable {
        /// It was entered.
        case enter
        /// It was left.
        case exit
        /// Its state became known.
        case state
    }

    /// A region's state changed.
    case region(Kind, RegionEvent)

    /// The report of one second, receiver and request.
    case ranged(RangingEvent)

    /// A change of a region's state.
    public struct RegionEvent: Sendable {
        /// What the user calls the region.
        public var name: String
        /// Which beacons belong to it.
        public var constraint: BeaconConstraint
        /// When it happened.
        public var time: Timestamp
        /// The receiver that caused it, where one did.
        public var receiver: String?
        /// The state after.
        public var state: RegionState
        /// The state before.
        public var before: RegionState
        /// The beacon whose advert entered the region; nil in any other change.
        public var identity: BeaconIdentity?

        /// A change from its parts.
        public init(
            name: String, constraint: BeaconConstraint, time: Timestamp, receiver: String?, state: RegionState,
            before: RegionState, identity: BeaconIdentity? = nil
        ) {
            self.name = name
            self.constraint = constraint
            self.time = time
            self.receiver = receiver
            self.state = state
            self.before = before
            self.identity = identity
        }
    }

    /// What one receiver hears of the beacons that are ranged.
    public struct RangingEvent: Sendable {
        /// The whole second that the report is for.
        public var time: Timestamp
        /// The receiver.
        public var receiver: String
        /// Which beacons are ranged; nil for all.
        public var constraint: BeaconConstraint?
        /// The beacons, nearest first, those of unknown distance last.
        public var beacons: [RangedBeacon]

        /// A report from its parts.
        public init(time: Timestamp, receiver: String, constraint: BeaconConstraint?, beacons: [RangedBeacon]) {
            self.time = time
            self.receiver = receiver
            self.constraint = constraint
            self.beacons = beacons
        }
    }
}
