public import BeaconModel

/// The engine's settings.
public struct EngineConfiguration: Sendable {
    /// The most beacons that are tracked at once unless another number is set.
    public static let usualMaximumTrackedBeacons = 65_536

    /// The most beacons that are tracked at once, each by receiver and address: the bound on the engine's memory, at
    /// less than 200 bytes each. Where there are more, those unheard for longest are removed; monitoring is not
    /// affected by it. It is 16 777 215 at most.
    public var maximumTrackedBeacons = Self.usualMaximumTrackedBeacons

    /// The most receivers that have ranging reports and whose deafness is known. Those beyond, of which there are some
    /// only in files that name more, enter and keep regions as all do; ``EngineStatistics/refusedReceivers`` counts
    /// them.
    public var maximumReceivers = 256

    /// The strategy that turns signal into proximity.
    public var strategy = RangingStrategy()

    /// What was measured of beacons, in place of what they say of themselves.
    public var beaconCalibrations: [BeaconIdentity: BeaconCalibration] = [:]

    /// The seed by which beacons are spread over the engine's tables. It changes no result. It is random unless set, so
    /// that no attacker can send adverts that collide.
    public var hashSeed = UInt64.random(in: 0...UInt64.max)

    /// Creates the default settings, which fit most uses.
    public init() {}
}

/// The engine's counts.
public struct EngineStatistics: Hashable, Sendable {
    /// Sightings received.
    public var sightings = 0

    /// Sightings that matched no region and no ranging request, and left no trace.
    public var unmatched = 0

    /// Beacons that were removed since there were too many.
    public var evicted = 0

    /// Receivers beyond ``EngineConfiguration/maximumReceivers``.
    public var refusedReceivers = 0

    /// Counts of zero.
    public init() {}
}
