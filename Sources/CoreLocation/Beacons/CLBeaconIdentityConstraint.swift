/// Which beacons are meant: all of a UUID, those of one major value, or a single identity.
///
/// Constraints are compared and hashed by value, so that a delegate's constraint finds the entry that another, equal one
/// made in a dictionary.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    private let deployment: UUID

    /// The major value, or nil where any will do. A number of Swift's, unlike that of ``CLBeaconRegion``.
    public let major: UInt16?

    /// The minor value, or nil where any will do. Nil whenever ``major`` is.
    public let minor: UInt16?

    /// The deployment, which always has to match.
    open var uuid: UUID { deployment }

    /// All beacons of a deployment.
    public init(uuid: UUID) {
        deployment = uuid
        major = nil
        minor = nil
        super.init()
    }

    /// The beacons of one major value.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
        deployment = uuid
        self.major = major
        minor = nil
        super.init()
    }

    /// The beacons of one identity.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        deployment = uuid
        self.major = major
        self.minor = minor
        super.init()
    }

    /// Reads a constraint from an archive.
    ///
    /// - Returns: nil if the archive holds no UUID.
    public required init?(coder: NSCoder) {
        guard let uuid = coder.decodeObjectIfPresent(of: NSUUID.self, forKey: Key.uuid) else { return nil }
        deployment = uuid as UUID
        major = coder.decodeObjectIfPresent(of: NSNumber.self, forKey: Key.major)?.uint16Value
        minor = coder.decodeObjectIfPresent(of: NSNumber.self, forKey: Key.minor)?.uint16Value
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the constraint to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid as NSUUID, forKey: Key.uuid)
        if let major { coder.encode(NSNumber(value: major), forKey: Key.major) }
        if let minor { coder.encode(NSNumber(value: minor), forKey: Key.minor) }
    }

    /// The constraint itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other means the same beacons in the same words.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLBeaconIdentityConstraint else { return false }
        return other === self || other.uuid == uuid && other.major == major && other.minor == minor
    }

    /// By all three values.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(uuid)
        hasher.combine(major)
        hasher.combine(minor)
        return hasher.finalize()
    }

    /// The three values; what is nil reads `(null)`, as for ``CLBeaconRegion``.
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
