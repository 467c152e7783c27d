/// The received signal strength (RSSI) of one advert in dBm, or the statement that the controller had no reading.
@frozen
public struct SignalStrength: Hashable, Sendable, BitwiseCopyable {
    /// The byte that the controller reported.
    public let rawValue: Int8

    /// Wraps the byte that the controller reported.
    @inlinable
    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// What a controller reports where it has no reading: 127 (Core Specification, Vol 4, Part E, 7.7.65.2). Such an
    /// advert counts for presence and never for distance.
    @inlinable public static var unavailable: SignalStrength { SignalStrength(rawValue: 127) }

    /// The strength in dBm, or nil where the controller had no reading.
    @inlinable
    public var dBm: Int8? { rawValue == 127 ? nil : rawValue }
}
