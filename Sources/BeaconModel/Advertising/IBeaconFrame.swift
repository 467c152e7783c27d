/// The payload of an iBeacon advert: an identity and the measured power.
///
/// On the air it is manufacturer specific data of Apple, Inc.: `4C 00`, the type `02`, the length `15`, then 21 bytes:
/// UUID, major and minor, most significant byte first, and the measured power. Beacon makers publish these byte values
/// (for instance Kontakt.io, support article 201492492).
@frozen
public struct IBeaconFrame: Hashable, Sendable, BitwiseCopyable {
    /// The identity that the beacon advertises.
    public var identity: BeaconIdentity

    /// The strength in dBm that a receiver measures one meter away.
    public var measuredPower: Int8

    /// The number of bytes of the payload after the AD type: company, type, length and 21 bytes.
    @inlinable public static var payloadCount: Int { 25 }

    /// The number of bytes of a complete advert: flags and payload, each with length and type.
    @inlinable public static var advertCount: Int { 30 }

    /// The assumed measured power of an uncalibrated beacon in dBm, from Apple's sample AirLocate.
    @inlinable public static var defaultMeasuredPower: Int8 { -59 }

    /// The measured power if the source did not provide one.
    @inlinable public static var unavailableMeasuredPower: Int8 { 127 }

    /// Creates a frame from its parts.
    @inlinable
    public init(identity: BeaconIdentity, measuredPower: Int8) {
        self.identity = identity
        self.measuredPower = measuredPower
    }

    /// Finds the iBeacon frame in an advert.
    ///
    /// Any flags or none, other structures before and after, and bytes after the measured power are accepted, because
    /// real beacons send all of these. Another company, a frame that is too short, or a length beyond the end are not
    /// accepted.
    ///
    /// - Parameter advert: the AD structures as received.
    /// - Returns: nil if there is no iBeacon frame.
    @inlinable
    @inline(__always)
    public init?(advert: RawSpan) {
        // The walk of ``AdvertisingStructureCursor``, with two differences. It ends when no frame fits into the rest,
        // which most other adverts reach at once, and it finds an iBeacon's structure by one comparison. Processors
        // cannot predict the next advert, so each avoided branch counts.
        var offset = 0
        while advert.byteCount &- offset > Self.structureLength {
            let head = advert.littleEndian64(at: offset)
            let length = Int(truncatingIfNeeded: head & 0xFF)
            guard length > 0, length < advert.byteCount &- offset else { return nil }
            // FF 4C 00 02 15, read as one number.
            if head &>> 8 & 0xFF_FFFF_FFFF == 0x15_0200_4CFF, length >= Self.structureLength {
                let start = offset &+ 6
                self.init(
                    identity: BeaconIdentity(
                        uuid: ProximityUUID(
                            high: advert.bigEndian64(at: start),
                            low: advert.bigEndian64(at: start &+ 8)),
                        major: advert.bigEndian16(at: start &+ 16),
                        minor: advert.bigEndian16(at: start &+ 18)),
                    measuredPower: Int8(bitPattern: advert.byte(at: start &+ 20)))
                return
            }
            offset &+= length &+ 1
        }
        return nil
    }

    /// The minimum length byte of the structure with the payload: AD type and payload.
    @inlinable static var structureLength: Int { 1 + payloadCount }

    /// The advert that carries this frame: flags `02 01 06` (general discoverable, no BR/EDR) and the payload.
    public var advert: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.advertCount) { buffer, count in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            count = Self.advertCount
        }
    }

    /// Writes the advert that carries this frame into the first ``advertCount`` bytes of `buffer`.
    ///
    /// - Precondition: `buffer` has at least ``advertCount`` bytes.
    public func write(to buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= Self.advertCount, "an iBeacon advert has \(Self.advertCount) bytes")
        // 02 01 06, 1A FF, 4C 00, 02 15
        buffer.storeBytes(of: UInt64(bigEndian: 0x0201_061A_FF4C_0002), as: UInt64.self)
        buffer[8] = 0x15
        buffer.storeBytes(of: identity.uuid.high.bigEndian, toByteOffset: 9, as: UInt64.self)
        buffer.storeBytes(of: identity.uuid.low.bigEndian, toByteOffset: 17, as: UInt64.self)
        buffer.storeBytes(of: identity.major.bigEndian, toByteOffset: 25, as: UInt16.self)
        buffer.storeBytes(of: identity.minor.bigEndian, toByteOffset: 27, as: UInt16.self)
        buffer[29] = UInt8(bitPattern: measuredPower)
    }
}
