/// One iBeacon advert as one receiver heard it: a value of fixed size, which is all that passes from radio to engine.
@frozen
public struct Sighting: Hashable, Sendable, BitwiseCopyable {
    /// When it was heard, by the clock of its source.
    public var time: Timestamp

    /// The address it came from.
    public var address: DeviceAddress

    /// What the beacon says it is.
    public var identity: BeaconIdentity

    /// The receiver that heard it.
    public var receiver: ReceiverID

    /// The strength in dBm that the beacon says a receiver measures one metre away.
    public var measuredPower: Int8

    /// The strength in which it was heard.
    public var rssi: SignalStrength

    /// A sighting from its parts.
    @inlinable
    public init(
        time: Timestamp,
        receiver: ReceiverID,
        address: DeviceAddress,
        identity: BeaconIdentity,
        measuredPower: Int8,
        rssi: SignalStrength
    ) {
        self.time = time
        self.receiver = receiver
        self.address = address
        self.identity = identity
        self.measuredPower = measuredPower
        self.rssi = rssi
    }
}
