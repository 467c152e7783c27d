/// The proximity of a beacon, in Core Location's four classes.
@frozen
public enum Proximity: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// The distance could not be determined.
    case unknown = 0
    /// Closer than half a meter.
    case immediate = 1
    /// Within three meters.
    case near = 2
    /// Beyond three meters.
    case far = 3
}

extension Proximity {
    /// A number that orders proximities: higher is nearer. Unknown is 0.
    package var rank: Int { self == .unknown ? 0 : 4 - Int(rawValue) }
}

extension Proximity: CustomStringConvertible {
    /// The name in lower case, as in the project's JSON.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .immediate: "immediate"
        case .near: "near"
        case .far: "far"
        }
    }
}

extension Proximity: Codable {
    /// Reads the name.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let proximity = Self.allCases.first(where: { $0.description == name }) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(name) is not a proximity")
        }
        self = proximity
    }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A beacon in a ranging report.
public struct RangedBeacon: Hashable, Sendable {
    /// The address that it advertises with, which distinguishes two devices with one identity.
    public var address: DeviceAddress

    /// The identity it advertises.
    public var identity: BeaconIdentity

    /// The proximity.
    public var proximity: Proximity

    /// The estimated distance in meters; -1 if it is unknown.
    public var accuracy: Double

    /// The mean signal of the newest second in which it was heard, in dBm; 0 if it was not heard recently or had no
    /// readings.
    public var rssi: Int

    /// The time of its last advert.
    public var lastHeard: Timestamp

    // As few bytes as possible: thousands of beacons are reported each second.
    private var power: Int8
    private var microseconds: UInt32
    private var nearest: Float = -1
    private var farthest: Float = -1

    /// The signal at one meter that its adverts claim, in dBm; nil if it is missing, impossible, or keeps changing.
    public var measuredPower: Int? { power == IBeaconFrame.unavailableMeasuredPower ? nil : Int(power) }

    /// The usual time between two received adverts, at most 10.24 s; nil until there were two. If adverts are lost, it
    /// is longer than the beacon's interval.
    public var advertisingInterval: Duration? { microseconds > 0 ? .microseconds(Int64(microseconds)) : nil }

    /// True if the beacon's power at one meter was measured, which replaces its claim.
    public var isCalibrated = false

    /// True if the distance is unknown because the receiver that decided about it does not hear. The beacon has not
    /// moved as far as any receiver knows.
    public var isUndecided = false

    /// True if the beacon's power at one meter is unknown. Its distance assumes ``IBeaconFrame/defaultMeasuredPower``
    /// until `beacon calibrate` has measured it.
    public var isUncalibrated: Bool { measuredPower == nil && !isCalibrated }

    /// The range in meters that contains the true distance in about 68 % of all cases; nil if the distance is unknown.
    ///
    /// If ``accuracy`` is 20 m or more, the upper end is infinite: the signal only shows that the beacon is farther
    /// away than the lower end.
    public var accuracyRange: ClosedRange<Double>? {
        get { nearest >= 0 && accuracy >= 0 ? Double(nearest)...Double(farthest) : nil }
        set {
            nearest = newValue.map { Float($0.lowerBound) } ?? -1
            farthest = newValue.map { Float($0.upperBound) } ?? -1
        }
    }

    /// Creates a beacon from its parts.
    ///
    /// - Parameters:
    ///   - address: the address that it advertises with.
    ///   - identity: the identity it advertises.
    ///   - proximity: the proximity.
    ///   - accuracy: the estimated distance in meters; -1 if it is unknown.
    ///   - rssi: the mean signal of its newest second, in dBm; 0 without readings.
    ///   - lastHeard: the time of its last advert.
    ///   - measuredPower: the signal at one meter, in dBm; ``IBeaconFrame/unavailableMeasuredPower`` if unknown.
    ///   - advertisingInterval: the usual time between two adverts, in nanoseconds; 0 if unknown.
    public init(
        address: DeviceAddress, identity: BeaconIdentity, proximity: Proximity, accuracy: Double, rssi: Int,
        lastHeard: Timestamp, measuredPower: Int8 = IBeaconFrame.unavailableMeasuredPower,
        advertisingInterval: Int64 = 0
    ) {
        self.address = address
        self.identity = identity
        self.proximity = proximity
        self.accuracy = accuracy
        self.rssi = rssi
        self.lastHeard = lastHeard
        power = measuredPower
        microseconds = UInt32(clamping: advertisingInterval / 1000)
    }
}

extension RangedBeacon {
    /// The lower end of ``accuracyRange`` if the upper one is infinite. People read "more than" this distance.
    package var leastDistance: Double? {
        accuracyRange.flatMap { $0.upperBound == .infinity ? $0.lowerBound : nil }
    }

    /// Returns an accuracy as a distance for ordering, in meters. An unknown accuracy, which is negative, is the
    /// farthest.
    package static func distance(of accuracy: Double) -> Double { accuracy < 0 ? .infinity : accuracy }

    /// Returns true if the first of two accuracies is the nearer one. An unknown accuracy is never nearer.
    package static func isNearer(_ accuracy: Double, than other: Double) -> Bool {
        distance(of: accuracy) < distance(of: other)
    }
}

/// The ranged beacons that one receiver hears in one second.
public struct RangingEvent: Hashable, Sendable {
    /// The whole second of the report.
    public var time: Timestamp
    /// The receiver's name.
    public var receiver: String
    /// The ranged constraint; nil for every beacon.
    public var constraint: BeaconConstraint?
    /// The beacons, nearest first, then those of unknown distance.
    public var beacons: [RangedBeacon]

    /// Creates a report from its parts.
    public init(time: Timestamp, receiver: String, constraint: BeaconConstraint?, beacons: [RangedBeacon]) {
        self.time = time
        self.receiver = receiver
        self.constraint = constraint
        self.beacons = beacons
    }
}
