internal import BeaconModel

/// A constraint on the identity of beacons: a proximity UUID, alone, with a major value, or with a major and a minor
/// value.
///
/// Constraints are compared and hashed by value, so that a delegate can use the constraint that it receives to look up
/// a dictionary entry for an equal constraint.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    private let deployment: UUID

    /// The major value; nil matches any. A Swift number, unlike that of ``CLBeaconRegion``.
    public let major: UInt16?

    /// The minor value; nil matches any. It is nil whenever ``major`` is.
    public let minor: UInt16?

    /// The proximity UUID, which must always match.
    open var uuid: UUID { deployment }

    /// Creates a constraint for all beacons of a proximity UUID.
    public init(uuid: UUID) {
        deployment = uuid
        major = nil
        minor = nil
        super.init()
    }

    /// Creates a constraint for the beacons with one major value.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
        deployment = uuid
        self.major = major
        minor = nil
        super.init()
    }

    /// Creates a constraint for the beacons with one identity.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        deployment = uuid
        self.major = major
        self.minor = minor
        super.init()
    }

    /// Decodes a constraint.
    ///
    /// - Returns: nil if the archive has no UUID.
    public required init?(coder: NSCoder) {
        guard let uuid = coder.decodeObjectIfPresent(of: NSUUID.self, forKey: Key.uuid) else { return nil }
        deployment = uuid as UUID
        major = coder.decodeObjectIfPresent(of: NSNumber.self, forKey: Key.major)?.uint16Value
        minor = coder.decodeObjectIfPresent(of: NSNumber.self, forKey: Key.minor)?.uint16Value
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the constraint.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid as NSUUID, forKey: Key.uuid)
        if let major { coder.encode(NSNumber(value: major), forKey: Key.major) }
        if let minor { coder.encode(NSNumber(value: minor), forKey: Key.minor) }
    }

    /// Returns the constraint itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if the other constraint has the same three values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLBeaconIdentityConstraint else { return false }
        return other === self || other.uuid == uuid && other.major == major && other.minor == minor
    }

    /// The hash of all three values.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(uuid)
        hasher.combine(major)
        hasher.combine(minor)
        return hasher.finalize()
    }

    /// The three values; nil is shown as `(null)`, as for ``CLBeaconRegion``.
    open override var description: String {
        let major = major.map(String.init) ?? "(null)"
        let minor = minor.map(String.init) ?? "(null)"
        return "CLBeaconIdentityConstraint (uuid:\(uuid.uuidString), major:\(major), minor:\(minor))"
    }

    private enum Key {
        static let uuid = "uuid"
        static let major = "major"
        static let minor = "minor"
    }
}

extension BeaconConstraint {
    /// Creates a constraint.
    ///
    /// A minor value without a major value does not occur: no initializer of Core Location creates it.
    init(uuid: UUID, major: UInt16?, minor: UInt16?) {
        switch (major, minor) {
        case (let major?, let minor?): self.init(uuid: ProximityUUID(uuid), major: major, minor: minor)
        case (let major?, nil): self.init(uuid: ProximityUUID(uuid), major: major)
        default: self.init(uuid: ProximityUUID(uuid))
        }
    }

    /// Converts a constraint of Core Location.
    init(_ constraint: CLBeaconIdentityConstraint) {
        self.init(uuid: constraint.uuid, major: constraint.major, minor: constraint.minor)
    }

    /// Creates the constraint of a monitor's condition.
    init(_ condition: CLMonitor.BeaconIdentityCondition) {
        self.init(uuid: condition.uuid, major: condition.major, minor: condition.minor)
    }
}

extension ProximityUUID {
    /// Converts a proximity UUID from Foundation's type.
    init(_ uuid: UUID) {
        self.init(
            high: withUnsafeBytes(of: uuid.uuid) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) },
            low: withUnsafeBytes(of: uuid.uuid) {
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            })
    }
}

extension UUID {
    /// Converts a proximity UUID to Foundation's type.
    init(_ uuid: ProximityUUID) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: uuid.high.bigEndian, as: UInt64.self)
            buffer.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }

    /// The UUID whose bytes are all zero.
    static var zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
