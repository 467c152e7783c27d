/// A beacon as ranging found it.
///
/// A new object comes with each report, and two objects are equal only if they are the same; compare `uuid`, `major` and
/// `minor` to find a beacon again. Core Location makes the objects. Code under test may make its own in a subclass that
/// overrides what it needs.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding {
    private let identifier: UUID
    private let group: UInt16
    private let member: UInt16
    private let step: CLProximity
    private let distance: CLLocationAccuracy
    private let signal: Int
    private let time: Date

    /// When the beacon was heard.
    open var timestamp: Date { time }

    /// The deployment.
    open var uuid: UUID { identifier }

    /// The deployment, by the name it had before iOS 13.
    @available(*, deprecated, renamed: "uuid")
    open var proximityUUID: UUID { uuid }

    /// The group within the deployment, a shop for instance.
    open var major: NSNumber { NSNumber(value: group) }

    /// The beacon within the group.
    open var minor: NSNumber { NSNumber(value: member) }

    /// How near the beacon is, in steps.
    open var proximity: CLProximity { step }

    /// The estimated distance in metres; negative where it cannot be told.
    ///
    /// It serves to order beacons of one ``proximity``, not to place them.
    open var accuracy: CLLocationAccuracy { distance }

    /// The mean signal since the last report, in dBm; 0 where the beacon was not heard since.
    open var rssi: Int { signal }

    /// A beacon of which nothing is known: a UUID of zeros, proximity unknown, accuracy -1, signal 0, never heard.
    public override init() {
        identifier = .zero
        group = 0
        member = 0
        step = .unknown
        distance = -1
        signal = 0
        time = .distantPast
        super.init()
    }

    /// A beacon from its parts.
    init(
        uuid: UUID, major: UInt16, minor: UInt16, proximity: CLProximity, accuracy: CLLocationAccuracy, rssi: Int,
        timestamp: Date
    ) {
        identifier = uuid
        group = major
        member = minor
        step = proximity
        distance = accuracy
        signal = rssi
        time = timestamp
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

    /// The beacon itself, since it never changes.
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
