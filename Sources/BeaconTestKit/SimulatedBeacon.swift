public import BeaconModel
public import Foundation

/// A test's description of a beacon.
public struct SimulatedBeacon: Hashable, Sendable {
    /// The proximity UUID.
    public var uuid: UUID
    /// The major value.
    public var major: UInt16
    /// The minor value.
    public var minor: UInt16
    /// The measured power at one meter that it advertises, in dBm. Receivers in the air measure the same value.
    public var measuredPower: Int8
    /// The advertising interval; at least a millisecond.
    public var interval: Duration
    /// The position.
    public var position: Position

    /// Creates a beacon. By default it advertises ten times a second with -59 dBm at one meter, like Apple's AirLocate
    /// sample.
    public init(
        uuid: UUID, major: UInt16, minor: UInt16, at position: Position,
        measuredPower: Int8 = IBeaconFrame.defaultMeasuredPower,
        interval: Duration = .milliseconds(100)
    ) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.position = position
        self.measuredPower = measuredPower
        self.interval = interval
    }
}
