public import BeaconEngine
public import BeaconModel

/// What a session watches for.
public struct SessionConfiguration: Sendable {
    /// A region to be monitored, with the name that its events carry.
    public struct Region: Sendable {
        /// What the user calls the region.
        public var name: String

        /// What to watch for.
        public var region: MonitoredRegion

        /// Its state as it was known before, from an earlier run for instance.
        public var state: RegionState

        /// A region of this name.
        public init(name: String, region: MonitoredRegion, assuming state: RegionState = .unknown) {
            self.name = name
            self.region = region
            self.state = state
        }
    }

    /// The regions to be monitored.
    public var regions: [Region] = []

    /// The beacons to be ranged; an element that is nil stands for all.
    public var rangings: [BeaconConstraint?] = []

    /// The one receiver that counts; nil for all.
    public var receiver: String?

    /// The engine's settings.
    public var engine = EngineConfiguration()

    /// A session that watches for nothing.
    public init() {}
}
