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

    /// The strength in dBm that a receiver measures one metre away, as the beacon claims it;
    /// ``IBeaconFrame/unavailableMeasuredPower`` if the source did not give it.
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

    /// True for a strength that was measured, which is negative.
    ///
    /// "No reading" has many spellings: controllers report 127, iOS and some gateways 0. Positive values count as no
    /// reading too. HCI allows up to 20 dBm, but a beacon that touches the receiver's antenna does not reach 0 dBm.
    @inlinable
    public var isReading: Bool { rawValue < 0 }

    /// The strengths in dBm that can be measured, and that a threshold can therefore have.
    public static var readings: ClosedRange<Int> { -127 ... -1 }

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
