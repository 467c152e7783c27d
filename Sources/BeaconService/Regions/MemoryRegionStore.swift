import BeaconRadio

/// Regions that last as long as this object: for tests, and for programs that want to leave no trace.
public final class MemoryRegionStore: RegionStore {
    private let regions = Locked<[RegisteredRegion]>([])

    /// A store without regions.
    public init() {}

    /// The regions as they were last written; none at first.
    public func load() -> [RegisteredRegion] { regions.withLock { $0 } }

    /// Replaces what was written.
    public func save(_ regions: [RegisteredRegion]) { self.regions.withLock { $0 = regions } }
}
