/// What the engine has counted.
public struct EngineStatistics: Hashable, Sendable {
    /// Sightings received.
    public var sightings = 0

    /// Sightings that matched no region and no ranging request, and left no trace.
    public var unmatched = 0

    /// Beacons that were given up to make room for others.
    public var evicted = 0

    /// Nothing counted.
    public init() {}
}
