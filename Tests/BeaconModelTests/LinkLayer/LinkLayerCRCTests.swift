import BeaconModel
import Testing

@Suite("Link layer CRC")
struct LinkLayerCRCTests {
    /// An ADV_IND and two SCAN_REQ as an Ubertooth heard them, with their CRCs on the air: packets 1, 4 and 78 of
    /// `ubertooth_capture_0.pcapng` (MIT Lincoln Laboratory, BLE-RSSI-Various-Static-Configurations, CC BY 4.0).
    static let known: [String] = [
        "d6be898e 4024 7372dfa6407d02011a020a080b095465737450686f6e65310bff4c001006771ebe8ac1ba 896a7b",
        "d6be898e 430c 9cfc07e73d10d803344b5c74 6210ba",
        "d6be898e c30c 13a00b380665b85e57c22847 9c71bb",
    ]

    private func integrity(_ packet: [UInt8], headerOffset: Int = 4) -> LinkLayerAdvertisement.Integrity {
        LinkLayerAdvertisement.integrity(of: packet.span.bytes, headerOffset: headerOffset)
    }

    @Test("The CRC matches received packets", arguments: known)
    func heard(hex: String) throws {
        let packet = try bytes(hex)
        let end = packet.count - 3
        let sum = LinkLayerCRC.checksum(of: packet.span.bytes, in: 4..<end)
        #expect(sum == UInt32(packet[end]) | UInt32(packet[end + 1]) << 8 | UInt32(packet[end + 2]) << 16)
        #expect(integrity(packet) == .intact)
    }

    @Test("The CRC detects each flipped bit after the access address", arguments: known)
    func flips(hex: String) throws {
        let packet = try bytes(hex)
        for bit in 4 * 8..<packet.count * 8 {
            var flipped = packet
            flipped[bit / 8] ^= 1 << (bit % 8)
            // A shorter length moves the CRC to other bytes, a longer one may leave no space for it.
            let found = integrity(flipped)
            #expect(found == .damaged || bit / 8 == 5 && found == .unknown, "bit \(bit)")
        }
    }

    @Test("A missing or zero CRC is unknown, and a truncated packet is damaged", arguments: known)
    func missing(hex: String) throws {
        let packet = try bytes(hex)
        let end = packet.count - 3
        #expect(integrity(Array(packet[..<end]) + [0, 0, 0]) == .unknown)
        for count in 0..<packet.count {
            #expect(integrity(Array(packet[..<count])) == (count < end ? .damaged : .unknown), "\(count)")
        }
    }

    @Test("Bytes after the CRC are ignored", arguments: known)
    func bytesBehind(hex: String) throws { #expect(try integrity(bytes(hex) + [1, 2, 3]) == .intact) }

    @Test("The CRC excludes the coding indicator of the coded PHY", arguments: known)
    func coded(hex: String) throws {
        var packet = try bytes(hex)
        packet.insert(0x01, at: 4)
        #expect(integrity(packet, headerOffset: 5) == .intact)
    }
}
