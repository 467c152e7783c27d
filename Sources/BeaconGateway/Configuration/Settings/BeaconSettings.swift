public import BeaconModel

/// A beacon that somebody gave a name.
public struct BeaconSettings: Hashable, Sendable {
    /// What people call it.
    public var name: String

    /// Which one it is.
    public var identity: BeaconIdentity

    /// A beacon of this name.
    public init(name: String, identity: BeaconIdentity) {
        self.name = name
        self.identity = identity
    }
}
