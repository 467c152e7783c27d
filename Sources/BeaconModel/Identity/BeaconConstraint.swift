/// Which beacons are meant: all of a UUID, those of one major value, or a single identity.
///
/// These three forms are the ones of Core Location's `CLBeaconIdentityConstraint`: a minor value comes only with a major
/// value, and there is no constraint without a UUID.
@frozen
public struct BeaconConstraint: Hashable, Sendable, BitwiseCopyable {
    /// The deployment, which always has to match.
    public let uuid: ProximityUUID

    /// The major value, or nil where any will do.
    public let major: UInt16?

    /// The minor value, or nil where any will do. Nil whenever ``major`` is.
    public let minor: UInt16?

    /// All beacons of a deployment.
    @inlinable
    public init(uuid: ProximityUUID) {
        self.uuid = uuid
        self.major = nil
        self.minor = nil
    }

    /// The beacons of one major value.
    @inlinable
    public init(uuid: ProximityUUID, major: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = nil
    }

    /// The beacons of one identity.
    @inlinable
    public init(uuid: ProximityUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// The beacons of one identity.
    @inlinable
    public init(_ identity: BeaconIdentity) {
        self.init(uuid: identity.uuid, major: identity.major, minor: identity.minor)
    }

    /// Reads `UUID[/MAJOR[/MINOR]]`, as the command line writes it.
    ///
    /// - Returns: nil if the UUID is malformed, a number is not in 0...65535, or there is anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let uuid = ProximityUUID(parts[0]) else { return nil }
        var numbers: [UInt16] = []
        for part in parts.dropFirst() {
            guard part.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = UInt16(part)
            else { return nil }
            numbers.append(number)
        }
        switch numbers.count {
        case 0: self.init(uuid: uuid)
        case 1: self.init(uuid: uuid, major: numbers[0])
        default: self.init(uuid: uuid, major: numbers[0], minor: numbers[1])
        }
    }

    /// Whether a beacon of this identity satisfies the constraint.
    @inlinable
    public func matches(_ identity: BeaconIdentity) -> Bool {
        uuid == identity.uuid
            && (major == nil || major == identity.major)
            && (minor == nil || minor == identity.minor)
    }
}

extension BeaconConstraint: CustomStringConvertible {
    /// `UUID[/MAJOR[/MINOR]]`, the form that the command line reads.
    public var description: String {
        var text = uuid.description
        if let major { text += "/\(major)" }
        if let minor { text += "/\(minor)" }
        return text
    }
}
