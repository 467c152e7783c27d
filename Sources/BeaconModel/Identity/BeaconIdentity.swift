/// The identity that a beacon advertises: a proximity UUID with a major and a minor value.
///
/// Two devices may carry the same identity. Region monitoring treats them as one; ranging distinguishes them by
/// their ``DeviceAddress``.
@frozen
public struct BeaconIdentity: Hashable, Sendable, BitwiseCopyable {
    /// The proximity UUID.
    public let uuid: ProximityUUID

    /// The major value: a group of beacons, for instance a shop.
    public let major: UInt16

    /// The minor value: a beacon within the group.
    public let minor: UInt16

    /// Creates an identity from its three parts.
    @inlinable
    public init(uuid: ProximityUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }
}

extension BeaconIdentity: CustomStringConvertible {
    /// `UUID/MAJOR/MINOR`, the form that the command line reads.
    public var description: String { "\(uuid)/\(major)/\(minor)" }
}

extension BeaconIdentity: Comparable {
    /// Orders identities by UUID, then major, then minor.
    public static func < (left: BeaconIdentity, right: BeaconIdentity) -> Bool {
        if left.uuid != right.uuid { return left.uuid < right.uuid }
        return (left.major, left.minor) < (right.major, right.minor)
    }
}

/// A constraint on the identity of beacons: all beacons of a UUID, those of one major value, or a single identity.
///
/// These are the three forms of Core Location's `CLBeaconIdentityConstraint`: a minor value requires a major value, and
/// a UUID is always required.
@frozen
public struct BeaconConstraint: Hashable, Sendable, BitwiseCopyable {
    /// The proximity UUID, which must always match.
    public let uuid: ProximityUUID

    /// The major value, or nil for any.
    public let major: UInt16?

    /// The minor value, or nil for any. It is nil whenever ``major`` is.
    public let minor: UInt16?

    /// Creates a constraint for all beacons of a UUID.
    @inlinable
    public init(uuid: ProximityUUID) {
        self.uuid = uuid
        self.major = nil
        self.minor = nil
    }

    /// Creates a constraint for the beacons with one major value.
    @inlinable
    public init(uuid: ProximityUUID, major: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = nil
    }

    /// Creates a constraint for the beacons with one identity.
    @inlinable
    public init(uuid: ProximityUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// Creates a constraint for the beacons with one identity.
    @inlinable
    public init(_ identity: BeaconIdentity) {
        self.init(uuid: identity.uuid, major: identity.major, minor: identity.minor)
    }

    /// Reads `UUID[/MAJOR[/MINOR]]`, the form of the command line.
    ///
    /// - Returns: nil if the UUID is malformed, a number is not in 0...65535, or there is other text.
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

    /// Returns true if a beacon of this identity satisfies the constraint.
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

// MARK: - JSON

// Identities and constraints have the same members everywhere: {"uuid":"…","major":1,"minor":7}.

extension BeaconIdentity: Codable {}

extension BeaconConstraint: Codable {
    /// Reads the UUID and the values that are present. A minor value without a major value is ignored, because
    /// constraints do not have that form.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let uuid = try values.decode(ProximityUUID.self, forKey: .uuid)
        let major = try values.decodeIfPresent(UInt16.self, forKey: .major)
        let minor = try values.decodeIfPresent(UInt16.self, forKey: .minor)
        switch (major, minor) {
        case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
        case (let major?, nil): self.init(uuid: uuid, major: major)
        case (nil, _): self.init(uuid: uuid)
        }
    }
}

extension BeaconConstraint {
    /// The only identity that it matches; nil if a part is missing.
    public var identity: BeaconIdentity? {
        guard let major, let minor else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }
}
