/// One iBeacon advert as one receiver heard it: a value of fixed size, which is all that passes from radio to engine.
@frozen
public struct Sighting: Hashable, Sendable, BitwiseCopyable {
    /// The time of reception, by the clock of its source.
    public var time: Timestamp

    /// The advertiser's address.
    public var address: DeviceAddress

    /// The identity that the beacon advertises.
    public var identity: BeaconIdentity

    /// The receiver that heard it.
    public var receiver: ReceiverID

    /// The strength in dBm that the beacon says a receiver measures one metre away, as it says it;
    /// ``IBeaconFrame/unavailableMeasuredPower`` where the source gives none.
    public var measuredPower: Int8

    /// The received signal strength.
    public var rssi: SignalStrength

    /// Creates a sighting from its parts.
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

/// The received signal strength (RSSI) of one advert in dBm, or the statement that the controller had no reading.
@frozen
public struct SignalStrength: Hashable, Sendable, BitwiseCopyable {
    /// The byte that the controller reported.
    public let rawValue: Int8

    /// Wraps the byte that the controller reported.
    @inlinable
    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// The value that a controller reports where it has no reading: 127 (Core Specification, Vol 4, Part E, 7.7.65.2).
    /// Such an advert counts for presence and never for distance.
    @inlinable public static var unavailable: SignalStrength { SignalStrength(rawValue: 127) }

    /// True for a strength that was measured: a negative one.
    ///
    /// Where there was none, controllers say 127, and iOS and gateways 0. A positive one is none either. A controller
    /// may report up to 20 dBm, but no transmitter that beacons use has that much left at the receiver's antenna, and
    /// values from 0 on are those that software makes up.
    @inlinable
    public var isReading: Bool { rawValue < 0 }

    /// The strength in dBm, or nil where there was no reading.
    @inlinable
    public var dBm: Int8? { isReading ? rawValue : nil }
}

/// A receiver's place in the table of names that its source keeps: `hci0` or `Room201` as a small number.
@frozen
public struct ReceiverID: Hashable, Sendable, BitwiseCopyable {
    /// The place in the table of names.
    public let index: UInt16

    /// Creates the ID of the receiver at this place in its source's table of names.
    @inlinable
    public init(_ index: UInt16) { self.index = index }
}
