public import BeaconModel
public import Foundation

/// A beacon as a test describes it.
public struct SimulatedBeacon: Hashable, Sendable {
    /// The proximity UUID.
    public var uuid: UUID
    /// The major value.
    public var major: UInt16
    /// The minor value.
    public var minor: UInt16
    /// The signal in dBm that it advertises for one metre, which is what a receiver measures here.
    public var measuredPower: Int8
    /// The time from one advert to the next; at least a millisecond.
    public var interval: Duration
    /// The position.
    public var position: Position

    /// Creates a beacon that by default advertises ten times a second with -59 dBm at one metre, as Apple's sample
    /// AirLocate does.
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
