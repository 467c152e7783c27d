internal import BeaconApplications
internal import BeaconModel
internal import BeaconSupport
import Foundation

/// The area in which beacons with a UUID, a major and a minor value are heard.
///
/// An app can monitor it, and a device can advertise it as a beacon with ``peripheralData(withMeasuredPower:)``. If
/// `major` or `minor` is nil, any value matches; 0 is an ordinary value.
///
/// Recent SDKs announce that the class will be deprecated. Since they do not warn yet, this class does not either. The
/// members that were deprecated in iOS 13 cause warnings.
open class CLBeaconRegion: CLRegion, @unchecked Sendable {
    // Unchecked like its superclass. The flag is behind a lock; all other stored properties are constant.

    /// A Boolean value indicating whether the state is also reported when the device's display lights up inside the
    /// region. False by default.
    ///
    /// It has no effect on a machine without a display.
    open var notifyEntryStateOnDisplay: Bool {
        get { notifiesOnDisplay.withLock { $0 } }
        set { notifiesOnDisplay.withLock { $0 = newValue } }
    }

    private let notifiesOnDisplay = Locked(false)
    private let constraint: CLBeaconIdentityConstraint

    /// Creates a region without an identity, whose UUID is all zeros. Monitoring and ranging it fail.
    public override init() {
        constraint = CLBeaconIdentityConstraint(uuid: CLBeaconRegion.noUUID)
        super.init()
    }

    /// Creates a region of all beacons of a proximity UUID.
    public init(uuid: UUID, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: uuid)
        super.init(name: identifier)
    }

    /// Creates a region of the beacons with one major value.
    public init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major)
        super.init(name: identifier)
    }

    /// Creates a region of the beacons with one identity.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor)
        super.init(name: identifier)
    }

    /// Creates a region of the beacons that satisfy a constraint.
    public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
        constraint = beaconIdentityConstraint
        super.init(name: identifier)
    }

    /// Creates a region of all beacons of a proximity UUID.
    @available(*, deprecated, renamed: "init(uuid:identifier:)")
    public init(proximityUUID: UUID, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: proximityUUID)
        super.init(name: identifier)
    }

    /// Creates a region of the beacons with one major value.
    @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
    public init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major)
        super.init(name: identifier)
    }

    /// Creates a region of the beacons with one identity.
    @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
    public init(proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String) {
        constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major, minor: minor)
        super.init(name: identifier)
    }

    /// Decodes a region.
    ///
    /// - Returns: nil if the archive has no identifier or no UUID.
    public required init?(coder: NSCoder) {
        guard let constraint = CLBeaconIdentityConstraint(coder: coder) else { return nil }
        self.constraint = constraint
        super.init(coder: coder)
        notifyEntryStateOnDisplay = coder.decodeBool(forKey: Key.notifyEntryStateOnDisplay)
    }

    /// Encodes the region.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        constraint.encode(with: coder)
        coder.encode(notifyEntryStateOnDisplay, forKey: Key.notifyEntryStateOnDisplay)
    }

    /// The constraint on the region's beacons.
    open var beaconIdentityConstraint: CLBeaconIdentityConstraint { constraint }

    /// The proximity UUID, which must always match.
    open var uuid: UUID { constraint.uuid }

    /// The proximity UUID, under its name before iOS 13.
    @available(*, deprecated, renamed: "uuid")
    open var proximityUUID: UUID { uuid }

    /// The major value; nil matches any.
    open var major: NSNumber? { constraint.major.map { NSNumber(value: $0) } }

    /// The minor value; nil matches any.
    open var minor: NSNumber? { constraint.minor.map { NSNumber(value: $0) } }

    /// Returns the dictionary for `CBPeripheralManager.startAdvertising(_:)` that makes the device act as this beacon.
    ///
    /// Apple calls the dictionary opaque. Independent code agrees on its content: the key `kCBAdvDataAppleBeaconKey`
    /// with 21 bytes, which are the UUID, the major and minor values (most significant byte first) and the measured
    /// power.
    ///
    /// - Parameter measuredPower: the signal strength at one meter, in dBm; its low eight bits are used. Nil stands for
    ///   the device's own value, here -59, which Apple's AirLocate sample uses.
    /// - Returns: a new dictionary. If the major or minor value is nil, 0 is sent.
    open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
        let identity = BeaconIdentity(
            uuid: ProximityUUID(uuid),
            major: major?.uint16Value ?? 0,
            minor: minor?.uint16Value ?? 0)
        let power = Int8(truncatingIfNeeded: measuredPower?.intValue ?? Int(IBeaconFrame.defaultMeasuredPower))
        let advert = IBeaconFrame(identity: identity, measuredPower: power).advert
        return [Self.beaconDataKey: Data(advert[Self.beaconDataRange]) as NSData]
    }

    override var kind: Kind { .beacon }

    /// A Boolean value indicating whether the region has an identity. A region created by `init()` has none.
    var isComplete: Bool { uuid != Self.noUUID || !identifier.isEmpty }

    private static let noUUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    override func bareCopy() -> CLRegion {
        let copy = CLBeaconRegion(beaconIdentityConstraint: beaconIdentityConstraint, identifier: identifier)
        copy.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
        return copy
    }

    /// The format of Apple's logs: nil is shown as `(null)`.
    open override var description: String {
        let major = major?.stringValue ?? "(null)"
        let minor = minor?.stringValue ?? "(null)"
        return "CLBeaconRegion (identifier:'\(identifier)', uuid:\(uuid.uuidString), major:\(major), minor:\(minor))"
    }

    /// The key of the dictionary's only entry. Apple has no public name for it.
    static let beaconDataKey = "kCBAdvDataAppleBeaconKey"

    /// The range of the 21 bytes in an advert: after the flags, the company and the type.
    private static let beaconDataRange = 9..<30

    private enum Key {
        static let notifyEntryStateOnDisplay = "notifyEntryStateOnDisplay"
    }
}

extension CLBeaconRegion {
    /// Creates a region from a constraint.
    convenience init(_ constraint: BeaconConstraint, identifier: String) {
        self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(constraint), identifier: identifier)
    }

    /// Creates a region from the application's registration.
    convenience init(_ region: RegisteredRegion) {
        self.init(region.constraint, identifier: region.identifier)
        notifyOnEntry = region.notifiesOnEntry
        notifyOnExit = region.notifiesOnExit
        notifyEntryStateOnDisplay = region.notifiesEntryStateOnDisplay
    }

    /// Creates a region from the value with which ranging started.
    convenience init(_ region: LocationManagerCore.RangedRegion) {
        self.init(region.constraint, identifier: region.identifier)
    }
}

extension RegisteredRegion {
    /// Creates the registration of a region.
    init(_ region: CLBeaconRegion) {
        self.init(
            identifier: region.identifier, constraint: BeaconConstraint(region.beaconIdentityConstraint),
            notifiesOnEntry: region.notifyOnEntry, notifiesOnExit: region.notifyOnExit,
            notifiesEntryStateOnDisplay: region.notifyEntryStateOnDisplay)
    }
}

extension LocationManagerCore.RangedRegion {
    /// Creates the value of a ranged region.
    init(_ region: CLBeaconRegion) {
        self.init(identifier: region.identifier, constraint: BeaconConstraint(region.beaconIdentityConstraint))
    }
}

extension CLBeaconIdentityConstraint {
    /// Converts a constraint to Apple's type.
    convenience init(_ constraint: BeaconConstraint) {
        let uuid = UUID(constraint.uuid)
        switch (constraint.major, constraint.minor) {
        case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
        case (let major?, nil): self.init(uuid: uuid, major: major)
        default: self.init(uuid: uuid)
        }
    }
}

extension CLAuthorizationStatus {
    /// Converts a status to Apple's type.
    init(_ status: AuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .whenInUse: self = .authorizedWhenInUse
        case .always: self = .authorizedAlways
        }
    }
}
