internal import BeaconModel

/// A beacon as ranging found it.
///
/// A new object comes with each report, and two objects are equal only if they are the same; compare `uuid`, `major`
/// and `minor` to find a beacon again. Core Location makes the objects. Code under test may make its own in a subclass
/// that overrides what it needs.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant, and a subclass
    // answers for what it adds.

    private let identifier: UUID
    private let group: UInt16
    private let member: UInt16
    private let step: CLProximity
    private let distance: CLLocationAccuracy
    private let signal: Int
    private let time: Date

    /// What Core Location has no name for; nil for a beacon that ranging did not make.
    let ranged: RangedBeacon?

    /// The time at which the beacon was last heard.
    open var timestamp: Date { time }

    /// The proximity UUID.
    open var uuid: UUID { identifier }

    /// The proximity UUID, by the name it had before iOS 13.
    @available(*, deprecated, renamed: "uuid")
    open var proximityUUID: UUID { uuid }

    /// The major value: the group within the UUID, a shop for instance.
    open var major: NSNumber { NSNumber(value: group) }

    /// The minor value: the beacon within the group.
    open var minor: NSNumber { NSNumber(value: member) }

    /// The proximity.
    open var proximity: CLProximity { step }

    /// The estimated distance in metres; negative where it is not known.
    ///
    /// It serves to order beacons of one ``proximity``, not to place them.
    open var accuracy: CLLocationAccuracy { distance }

    /// The mean signal of the newest second in which the beacon was heard, in dBm.
    ///
    /// It is 0 where the beacon was not heard for 2 seconds, or for three of its intervals where these are longer.
    open var rssi: Int { signal }

    /// Creates a beacon of which nothing is known: a UUID of zeros, proximity unknown, accuracy -1, signal 0, never
    /// heard.
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

    /// Creates a beacon from its parts.
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

    /// Reads a beacon from an archive.
    ///
    /// - Returns: nil if the archive holds no UUID or no time.
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

    /// Writes the beacon to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid as NSUUID, forKey: Key.uuid)
        coder.encode(timestamp as NSDate, forKey: Key.timestamp)
        coder.encode(major.intValue, forKey: Key.major)
        coder.encode(minor.intValue, forKey: Key.minor)
        coder.encode(proximity.rawValue, forKey: Key.proximity)
        coder.encode(accuracy, forKey: Key.accuracy)
        coder.encode(rssi, forKey: Key.rssi)
    }

    /// Returns the beacon itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The form that Apple's logs have: the proximity by its number, the accuracy with two decimals.
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

/// The proximity of a beacon: its distance in steps.
///
/// Apple names no distances. Here they are those of the engine's `ProximityClassifier`: immediate below 0.5 m, near
/// below 3 m, with hysteresis at the borders.
///
/// Switches may have an `@unknown default`, as Apple's type is not frozen; they need none.
public enum CLProximity: Int, Sendable, BitwiseCopyable {
    /// Not known: the beacon was not heard of late, or gave no distance.
    case unknown = 0

    /// At the device.
    case immediate = 1

    /// A few steps away.
    case near = 2

    /// Further away.
    case far = 3
}

extension CLProximity {
    /// Creates Apple's form of a proximity.
    init(_ proximity: Proximity) {
        switch proximity {
        case .unknown: self = .unknown
        case .immediate: self = .immediate
        case .near: self = .near
        case .far: self = .far
        }
    }
}

/// A beacon's major value: the group within a proximity UUID, a shop for instance.
///
/// `CLBeaconMajorValue(beacon.major)` reads it out of an `NSNumber`.
public typealias CLBeaconMajorValue = UInt16

/// A beacon's minor value: the beacon within its group.
public typealias CLBeaconMinorValue = UInt16

extension CLBeacon {
    /// Creates a beacon from one that ranging found.
    ///
    /// - Parameter timestamp: the wall time at which it was last heard.
    convenience init(_ beacon: RangedBeacon, timestamp: Date) {
        self.init(
            uuid: UUID(beacon.identity.uuid), major: beacon.identity.major, minor: beacon.identity.minor,
            proximity: CLProximity(beacon.proximity), accuracy: beacon.accuracy, rssi: beacon.rssi,
            timestamp: timestamp, ranged: beacon)
    }
}
