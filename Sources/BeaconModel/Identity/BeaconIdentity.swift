/// What a beacon says it is: its deployment's UUID with a major and a minor value.
///
/// Two devices may carry the same identity. Region monitoring treats them as one; ranging keeps them apart by their
/// ``DeviceAddress``.
@frozen
public struct BeaconIdentity: Hashable, Sendable, BitwiseCopyable {
    /// The deployment.
    public let uuid: ProximityUUID

    /// The group within the deployment, a shop for instance.
    public let major: UInt16

    /// The beacon within the group.
    public let minor: UInt16

    /// An identity from its three parts.
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
