public import BeaconModel

/// The rules for suspecting more than one device behind an identity.
public struct SuspicionRules: Hashable, Sendable, Codable {
    /// The reasons to report.
    public var reasons = Set(SuspicionReason.all)

    /// The maximum speed in meters per second: a person runs at 5.
    public var fastest = 5.0

    /// The decibels by which a beacon may be stronger than free space and its power predict: walls reflect, and claimed
    /// powers are rarely measured. It is a choice, with which the recordings of `SuspicionRecordingTests` raise no
    /// suspicion.
    public var margin = 20.0

    /// The time after which the same suspicion about a beacon is reported again.
    public var pause = Duration.seconds(3600)

    /// Creates the default rules.
    public init() {}

    /// True if the receivers' positions matter.
    package var needsPositions: Bool { reasons.contains(.apart) || reasons.contains(.speed) }
}

/// The position of a receiver on a plan.
public struct ReceiverPosition: Hashable, Sendable, Codable {
    /// The distance in meters to the right of the plan's top left corner.
    public var x: Double
    /// The distance in meters below it.
    public var y: Double

    /// Creates a position.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the distance to another position in meters.
    func distance(to other: ReceiverPosition) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

/// A suspicion that two devices share one identity.
public struct Suspicion: Hashable, Sendable {
    /// One of the two devices.
    public struct Side: Hashable, Sendable {
        /// The receiver that heard it.
        public var receiver: ReceiverID
        /// The address that it advertised with.
        public var address: DeviceAddress
    }

    /// The time of the decision.
    public var time: Timestamp
    /// The identity.
    public var identity: BeaconIdentity
    /// The reason.
    public var reason: SuspicionReason
    /// The device that was heard first.
    public var first: Side
    /// The device that was heard last.
    public var second: Side
    /// The distance between the receivers in meters; nil if it does not matter.
    public var distance: Double?
    /// The seconds for which both were heard, or the seconds between them.
    public var seconds: Double
    /// The minimum speed in meters per second; nil if it does not matter.
    public var speed: Double?
}
