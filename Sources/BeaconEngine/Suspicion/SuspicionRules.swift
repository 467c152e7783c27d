public import BeaconModel

/// The rules by which more than one device is suspected behind an identity.
public struct SuspicionRules: Hashable, Sendable {
    /// The reasons that count.
    public var reasons = Set(SuspicionReason.all)

    /// The speed in metres per second that nothing exceeds: a person runs at 5.
    public var fastest = 5.0

    /// The decibels by which a beacon may be stronger than free space and its power let expect: walls reflect, and what
    /// a beacon says of its power is rarely measured. A choice, with which the recordings of `SuspicionRecordingTests`
    /// raise no suspicion.
    public var margin = 20.0

    /// The time after which the same is reported of a beacon again.
    public var pause = Duration.seconds(3600)

    /// Creates the default rules.
    public init() {}

    /// True where it matters where receivers are.
    package var needsPositions: Bool { reasons.contains(.apart) || reasons.contains(.speed) }
}

/// The position of a receiver on a plan.
public struct ReceiverPosition: Hashable, Sendable {
    /// The metres to the right of the plan's corner.
    public var x: Double
    /// The metres below it.
    public var y: Double

    /// Creates a position.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the metres to another position.
    func distance(to other: ReceiverPosition) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

/// What a detector has found: two devices behind one identity.
public struct Suspicion: Hashable, Sendable {
    /// One of the two devices, as it was heard.
    public struct Side: Hashable, Sendable {
        /// The receiver that heard it.
        public var receiver: ReceiverID
        /// The address that it advertised from.
        public var address: DeviceAddress
    }

    /// The moment at which it was decided.
    public var time: Timestamp
    /// The identity.
    public var identity: BeaconIdentity
    /// The reason.
    public var reason: SuspicionReason
    /// The device that was heard first.
    public var first: Side
    /// The device that was heard last.
    public var second: Side
    /// The metres between the receivers; nil where they do not matter.
    public var distance: Double?
    /// The seconds for which both were heard, or those from the one to the other.
    public var seconds: Double
    /// The least speed in metres per second; nil where it does not matter.
    public var speed: Double?
}
