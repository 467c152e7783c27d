import BeaconModel

/// An advert of the content that all sample files share.
struct Advert: Sendable {
    /// The microseconds since 1970.
    var microseconds: Int64
    var address: UInt64
    var rssi: Int8
    var frame: IBeaconFrame

    /// Three iBeacons. No two bytes of address and identity are equal, so that tests detect a wrong order.
    static let samples = [
        Advert(
            microseconds: 1_700_000_000_123_456, address: 0xC1B2_A394_8576, rssi: -59, frame: frame(0x0102, 0x0304, -59)
        ),
        Advert(
            microseconds: 1_700_000_000_373_457, address: 0xF0E1_D2C3_B4A5, rssi: -101, frame: frame(0xFFFE, 0, -128)),
        Advert(microseconds: 1_700_000_001_000_001, address: 0xC1B2_A394_8576, rssi: -1, frame: frame(0, 0xFFFD, 4)),
    ]

    private static func frame(_ major: UInt16, _ minor: UInt16, _ power: Int8) -> IBeaconFrame {
        IBeaconFrame(
            identity: BeaconIdentity(
                uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: major,
                minor: minor),
            measuredPower: power)
    }

    /// A legacy advertising report, from the event's code on.
    var event: [UInt8] {
        let advert = frame.advert
        return join(
            [0x3E, UInt8(advert.count + 12), 0x02, 1, 3, 1], addressBytes(address), [UInt8(advert.count)], advert,
            [UInt8(bitPattern: rssi)])
    }

    /// A link layer packet, from the access address on, with a correct CRC.
    var linkLayerPacket: [UInt8] {
        let advert = frame.advert
        let packet = join(
            [0xD6, 0xBE, 0x89, 0x8E, 0x42, UInt8(advert.count + 6)], addressBytes(address), advert)
        let sum = LinkLayerCRC.checksum(of: packet.span.bytes, in: 4..<packet.count)
        return packet + number(sum, isBigEndian: false).prefix(3)
    }

    /// Returns the packet in the framing of a link type of pcap.
    func packet(linkType: UInt16) -> [UInt8] {
        switch linkType {
        case 187: join([4], event)
        case 201: join([0, 0, 0, 1, 4], event)
        case 254: join([0, 0, 0, 3], event)
        case 251: linkLayerPacket
        // Channel, signal, noise, offences, reference access address; dewhitened, signal and reference valid, CRC
        // checked and valid.
        case 256: join([37, UInt8(bitPattern: rssi), 0x80, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x13, 0x0C], linkLayerPacket)
        // Board, lengths, version, counter, identifier; length, flags (CRC is right), channel, signal, event counter,
        // time.
        case 272:
            join(
                [0, 6, 3, 7, 0, 2, 10, 10, 0x01, 37, UInt8(rssi.magnitude), 0, 0, 0, 0, 0, 0], linkLayerPacket)
        default: []
        }
    }

    /// A line of a sighting log.
    var line: String {
        let fraction = String(String(1_000_000 + microseconds % 1_000_000).dropFirst())
        return #"{"time":\#(microseconds / 1_000_000).\#(fraction),"receiver":"hci0","address":"#
            + #""\#(DeviceAddress(bits: address, kind: .random))","uuid":"\#(frame.identity.uuid)","#
            + #""major":\#(frame.identity.major),"minor":\#(frame.identity.minor),"#
            + #""measuredPower":\#(frame.measuredPower),"rssi":\#(rssi)}"#
    }
}
