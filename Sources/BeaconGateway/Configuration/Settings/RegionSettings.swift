public import BeaconEngine

/// A region that is watched for.
public struct RegionSettings: Hashable, Sendable {
    /// What notifications call it.
    public var name: String

    /// What belongs to it, and when it counts as entered and left.
    public var region: MonitoredRegion

    /// A region of this name.
    public init(name: String, region: MonitoredRegion) {
        self.name = name
        self.region = region
    }
}
