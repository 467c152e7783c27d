public import BeaconModel

/// A beacon that has a name. It becomes a device in Home Assistant; one that nobody named does not.
public struct NamedBeacon: Hashable, Sendable {
    /// What people call it. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// What it says it is.
    public var identity: BeaconIdentity

    /// A beacon of this name.
    public init(name: String, identity: BeaconIdentity) {
        self.name = name
        self.identity = identity
    }
}
