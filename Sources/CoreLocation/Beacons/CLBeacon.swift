internal import BeaconModel

/// A beacon in a ranging report.
///
/// Each report contains new objects, and two objects are equal only if they are identical. To recognize a beacon,
/// compare `uuid`, `major` and `minor`. Core Location creates the objects. Code under test may create its own, using a
/// subclass that overrides the required properties.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant. A subclass is
    // responsible for its own properties.

    private let identifier: UUID
    private let group: UInt16
    private let member: UInt16
    private let step: CLProximity
    private let distance: CLLocationAccuracy
    private let signal: Int
    private let time: Date

    /// Values that have no name in Core Location; nil for a beacon that does not come from ranging.
    let ranged: RangedBeacon?

    /// The time at which the beacon was last heard.
    open var timestamp: Date { time }

    /// The proximity UUID.
    open var uuid: UUID { identifier }

    /// The proximity UUID, under its name before iOS 13.
    @available(*, deprecated, renamed: "uuid")
    open var proximityUUID: UUID { uuid }

    /// The major value: a group within the UUID, for example a shop.
    open var major: NSNumber { NSNumber(value: group) }

    /// The minor value: the beacon within the group.
    open var minor: NSNumber { NSNumber(value: member) }

    /// The proximity.
    open var proximity: CLProximity { step }

    /// The estimated distance in meters; negative if unknown.
    ///
    /// Use it to order beacons with the same ``proximity``, not to locate them.
    open var accuracy: CLLocationAccuracy { distance }

    /// The mean signal strength in the last second in which the beacon was heard, in dBm.
    ///
    /// It is 0 if the beacon was not heard for 2 seconds, or for three of its intervals if that is longer.
    open var rssi: Int { signal }

    /// Creates an unknown beacon: a UUID of zeros, unknown proximity, accuracy -1, signal 0, never heard.
    public override init() {
        identifier = .zero
        group = 0
        member = 0
        step = .unknown
        distance = -1
        signal = 0
        time = .distantPast
        ranged = nil
        super.init()
    }

    /// Creates a beacon.
    init(
        uuid: UUID, major: UInt16, minor: UInt16, proximity: CLProximity, accuracy: CLLocationAccuracy, rssi: Int,
        timestamp: Date, ranged: RangedBeacon? = nil
    ) {
        identifier = uuid
        group = major
        member = minor
        step = proximity
        distance = accuracy
        signal = rssi
        time = timestamp
        self.ranged = ranged
        super.init()
    }

    /// Decodes a beacon.
    ///
    /// - Returns: nil if the archive has no UUID or no time.
    public required init?(coder: NSCoder) {
        guard let uuid = coder.decodeObjectIfPresent(of: NSUUID.self, forKey: Key.uuid),
            let timestamp = coder.decodeObjectIfPresent(of: NSDate.self, forKey: Key.timestamp)
        else { return nil }
        identifier = uuid as UUID
        group = UInt16(truncatingIfNeeded: coder.decodeInteger(forKey: Key.major))
        member = UInt16(truncatingIfNeeded: coder.decodeInteger(forKey: Key.minor))
        step = CLProximity(rawValue: coder.decodeInteger(forKey: Key.proximity)) ?? .unknown
        distance = coder.decodeDouble(forKey: Key.accuracy)
        signal = coder.decodeInteger(forKey: Key.rssi)
        time = timestamp as Date
        ranged = nil
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the beacon.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid as NSUUID, forKey: Key.uuid)
        coder.encode(timestamp as NSDate, forKey: Key.timestamp)
        coder.encode(major.intValue, forKey: Key.major)
        coder.encode(minor.intValue, forKey: Key.minor)
        coder.encode(proximity.rawValue, forKey: Key.proximity)
        coder.encode(accuracy, forKey: Key.accuracy)
        coder.encode(rssi, forKey: Key.rssi)
    }

    /// Returns the beacon itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The format of Apple's logs: proximity as a number, accuracy with two decimals.
    open override var description: String {
        "CLBeacon (uuid:\(uuid.uuidString), major:\(major), minor:\(minor), proximity:\(proximity.rawValue) "
            + "+/- \(accuracy.text(places: 2))m, rssi:\(rssi), timestamp:\(timestamp))"
    }

    private enum Key {
        static let uuid = "uuid"
        static let timestamp = "timestamp"
        static let major = "major"
        static let minor = "minor"
        static let proximity = "proximity"
        static let accuracy = "accuracy"
        static let rssi = "rssi"
    }
}

/// The proximity of a beacon, as a distance in steps.
///
/// Apple does not document the distances. Here they are the engine's, in `ProximityClassifier`: immediate below 0.5 m
/// and near below 3 m, with hysteresis at the borders.
///
/// Switches may have an `@unknown default`, since Apple's type is not frozen, but they need none.
public enum CLProximity: Int, Sendable, BitwiseCopyable {
    /// Unknown: the beacon was not heard recently, or its distance cannot be estimated.
    case unknown = 0

    /// Very close to the device.
    case immediate = 1

    /// A few steps away.
    case near = 2

    /// Further away.
    case far = 3
}

extension CLProximity {
    /// Converts a proximity to Apple's type.
    init(_ proximity: Proximity) {
        switch proximity {
        case .unknown: self = .unknown
        case .immediate: self = .immediate
        case .near: self = .near
        case .far: self = .far
        }
    }
}

/// A beacon's major value: a group within a proximity UUID, for example a shop.
///
/// `CLBeaconMajorValue(beacon.major)` converts it from an `NSNumber`.
public typealias CLBeaconMajorValue = UInt16

/// A beacon's minor value: a beacon within its group.
public typealias CLBeaconMinorValue = UInt16

extension CLBeacon {
    /// Creates a beacon from a ranged one.
    ///
    /// - Parameter timestamp: the time at which it was last heard, by the wall clock.
    convenience init(_ beacon: RangedBeacon, timestamp: Date) {
        self.init(
            uuid: UUID(beacon.identity.uuid), major: beacon.identity.major, minor: beacon.identity.minor,
            proximity: CLProximity(beacon.proximity), accuracy: beacon.accuracy, rssi: beacon.rssi,
            timestamp: timestamp, ranged: beacon)
    }
}
