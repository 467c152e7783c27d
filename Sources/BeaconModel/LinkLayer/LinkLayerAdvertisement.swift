/// A sniffer's advert: a link layer packet on an advertising channel.
///
/// The Core Specification defines the packet layouts in Vol 6, Part B, 2.3.
@frozen
public struct LinkLayerAdvertisement: Sendable, BitwiseCopyable {
    /// The result of checking a packet's CRC.
    @frozen
    public enum Integrity: Sendable, BitwiseCopyable {
        /// The CRC matches the packet.
        case intact
        /// The CRC does not match, or the packet is truncated.
        case damaged
        /// The packet has no CRC: its three bytes are missing or zero.
        case unknown
    }

    /// The kind of advert.
    public let kind: AdvertisingReport.Kind

    /// The advertiser's address.
    public let address: DeviceAddress

    /// The offset of the advert in the packet.
    public let offset: Int

    /// The number of bytes of the advert; 0 if the packet is truncated.
    public let count: Int

    /// The access address of all advertising packets.
    public static let accessAddress: UInt32 = 0x8E89_BED6

    /// Reads a packet.
    ///
    /// - Parameters:
    ///   - packet: access address, header, payload and CRC.
    ///   - headerOffset: the offset of the header: 4, or 5 after a coding indicator.
    /// - Returns: nil if the packet is not an advert with an advertiser's address: scan requests, directed adverts,
    ///   connection requests, fragments of extended adverts, packets of a connection.
    public init?(packet: RawSpan, headerOffset: Int = 4) {
        let payload = headerOffset + 2
        guard packet.byteCount >= payload + 6, packet.littleEndian32(at: 0) == Self.accessAddress else { return nil }
        let header = packet.byte(at: headerOffset)
        let length = Int(packet.byte(at: headerOffset + 1))
        guard length >= 6 else { return nil }
        let isWhole = payload + length <= packet.byteCount
        let addressKind: DeviceAddress.Kind = header & 0x40 == 0 ? .public : .random
        switch header & 0x0F {
        case 0: kind = .connectable
        case 2: kind = .nonConnectable
        case 4: kind = .scanResponse
        case 6: kind = .scannable
        case 7:
            // Extended: the length of the extended header (6 bits), its flags, the address if flag 0 is set.
            let extendedLength = Int(packet.byte(at: payload) & 0x3F)
            guard isWhole, length >= 8, extendedLength >= 7, 1 + extendedLength <= length,
                packet.byte(at: payload + 1) & 1 == 1
            else { return nil }
            kind = .extended
            address = DeviceAddress(bits: packet.addressBits(at: payload + 2), kind: addressKind)
            offset = payload + 1 + extendedLength
            count = length - 1 - extendedLength
            return
        default: return nil
        }
        address = DeviceAddress(bits: packet.addressBits(at: payload), kind: addressKind)
        offset = payload + 6
        count = isWhole ? length - 6 : 0
    }

    /// Checks a packet's CRC.
    ///
    /// - Parameters:
    ///   - packet: access address, header, payload and CRC.
    ///   - headerOffset: the offset of the header: 4, or 5 after a coding indicator.
    public static func integrity(of packet: RawSpan, headerOffset: Int = 4) -> Integrity {
        let payload = headerOffset + 2
        guard packet.byteCount >= payload else { return .damaged }
        let end = payload + Int(packet.byte(at: headerOffset + 1))
        guard end <= packet.byteCount else { return .damaged }
        guard end + 3 <= packet.byteCount else { return .unknown }
        let sent = UInt32(packet.littleEndian16(at: end)) | UInt32(packet.byte(at: end + 2)) << 16
        // Tools without a CRC write zeros instead; one packet in 2^24 really has that CRC.
        guard sent != 0 else { return .unknown }
        return LinkLayerCRC.checksum(of: packet, in: headerOffset..<end) == sent ? .intact : .damaged
    }
}

/// The 24-bit CRC of advertising packets (Core Specification, Vol 6, Part B, 3.1.1).
public enum LinkLayerCRC {
    /// The feedback of x^24 + x^10 + x^9 + x^6 + x^4 + x^3 + x + 1, with the first bit sent in the lowest place.
    private static let feedback: UInt32 = 0xDA6000

    /// The state after each value of the low byte. Bit by bit, the CRC took most of a packet's time.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { state, _ in state & 1 == 1 ? state &>> 1 ^ feedback : state &>> 1 }
    }

    /// Returns the CRC over `range` of `packet`, as the little-endian number of the three bytes that follow on the air.
    public static func checksum(of packet: RawSpan, in range: Range<Int>) -> UInt32 {
        let table = table
        // 0x555555, the start value of advertising packets, with its 24 bits in the order of transmission.
        var state: UInt32 = 0xAAAAAA
        for offset in range {
            state = state &>> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ packet.byte(at: offset))]
        }
        return state
    }
}
