public import BeaconModel

/// The engine's settings.
public struct EngineConfiguration: Sendable {
    /// The default of ``maximumTrackedBeacons``.
    public static let defaultMaximumTrackedBeacons = 65_536

    /// The maximum number of tracked beacons, each by receiver and address, at most 16 777 215.
    ///
    /// It bounds the engine's memory, at less than 200 bytes per beacon. If there are more, the engine removes those
    /// unheard for longest. Monitoring is not affected.
    public var maximumTrackedBeacons = Self.defaultMaximumTrackedBeacons

    /// The maximum number of receivers that have ranging reports and whose deafness is tracked.
    ///
    /// Only recordings can name more. Further receivers enter and keep regions like all others;
    /// ``EngineStatistics/refusedReceivers`` counts them.
    public var maximumReceivers = 256

    /// The strategy that turns signal into proximity.
    public var strategy = RangingStrategy()

    /// The calibrations of beacons, which replace the claims in their adverts.
    public var beaconCalibrations: [BeaconIdentity: BeaconCalibration] = [:]

    /// The seed of the engine's hash tables. It changes no result. The default is random, so that attackers cannot send
    /// adverts that collide.
    public var hashSeed = UInt64.random(in: 0...UInt64.max)

    /// Creates the default settings, which fit most uses.
    public init() {}
}

/// The engine's counts.
public struct EngineStatistics: Hashable, Sendable {
    /// The sightings that were received.
    public var sightings = 0

    /// The sightings that matched no region and no ranging request. They leave no state.
    public var unmatched = 0

    /// The beacons that were removed because there were too many.
    public var evicted = 0

    /// The receivers beyond ``EngineConfiguration/maximumReceivers``.
    public var refusedReceivers = 0

    /// Creates counts of zero.
    public init() {}
}
