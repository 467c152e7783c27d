/// An iBeacon advert as one receiver heard it, in a value of fixed size: the engine's only input from radios.
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

    /// The strength in dBm that a receiver measures one meter away, as the beacon claims it;
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

/// The received signal strength (RSSI) of one advert in dBm, or the value for no reading.
@frozen
public struct SignalStrength: Hashable, Sendable, BitwiseCopyable {
    /// The byte that the controller reported.
    public let rawValue: Int8

    /// Creates a strength from the byte that the controller reported.
    @inlinable
    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// The value that a controller reports without a reading: 127 (Core Specification, Vol 4, Part E, 7.7.65.2). Such
    /// an advert proves presence, but not distance.
    @inlinable public static var unavailable: SignalStrength { SignalStrength(rawValue: 127) }

    /// True for a measured strength, which is negative.
    ///
    /// "No reading" has several values: controllers report 127, iOS and some gateways 0. Positive values count as no
    /// reading too. HCI allows up to 20 dBm, but even a beacon that touches the receiver's antenna does not reach 0
    /// dBm.
    @inlinable
    public var isReading: Bool { rawValue < 0 }

    /// The measurable strengths in dBm, which are also the valid thresholds.
    public static var readings: ClosedRange<Int> { -127 ... -1 }

    /// The strength in dBm, or nil without a reading.
    @inlinable
    public var dBm: Int8? { isReading ? rawValue : nil }
}

/// A receiver's index in its source's table of names: `hci0` or `Room201` as a small number.
@frozen
public struct ReceiverID: Hashable, Sendable, BitwiseCopyable {
    /// The index in the table of names.
    public let index: UInt16

    /// Creates the ID of the receiver at an index in its source's table of names.
    @inlinable
    public init(_ index: UInt16) { self.index = index }
}

/// As JSON, a receiver is its index.
extension ReceiverID: Codable {
    /// Reads the index.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(UInt16.self))
    }

    /// Writes the index.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(index)
    }
}
