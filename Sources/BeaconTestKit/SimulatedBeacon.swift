public import BeaconModel
public import Foundation

/// A beacon as a test describes it.
public struct SimulatedBeacon: Hashable, Sendable {
    /// The deployment's UUID.
    public var uuid: UUID
    /// The major value.
    public var major: UInt16
    /// The minor value.
    public var minor: UInt16
    /// The signal in dBm that it says a receiver measures one metre away, which is what one measures here.
    public var measuredPower: Int8
    /// The time from one advert to the next; at least a millisecond.
    public var interval: Duration
    /// Where it is.
    public var position: Position

    /// A beacon that advertises ten times a second with -59 dBm at one metre, as Apple's sample AirLocate does.
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
