public import BeaconModel

/// A beacon as a ranging report lists it.
public struct RangedBeacon: Hashable, Sendable {
    /// The address it advertises from, which keeps two devices of one identity apart.
    public var address: DeviceAddress

    /// What it says it is.
    public var identity: BeaconIdentity

    /// How near it is.
    public var proximity: Proximity

    /// The estimated distance in metres; -1 where it cannot be told.
    public var accuracy: Double

    /// The mean signal of the newest second in which it was heard, in dBm; 0 where it was not heard of late or without
    /// readings.
    public var rssi: Int

    /// When it was last heard.
    public var lastHeard: Timestamp

    /// A beacon from its parts.
    public init(
        address: DeviceAddress, identity: BeaconIdentity, proximity: Proximity, accuracy: Double, rssi: Int,
        lastHeard: Timestamp
    ) {
        self.address = address
        self.identity = identity
        self.proximity = proximity
        self.accuracy = accuracy
        self.rssi = rssi
        self.lastHeard = lastHeard
    }
}
