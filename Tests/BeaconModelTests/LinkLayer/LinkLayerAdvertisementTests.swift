import BeaconModel
import BeaconSupport
import Testing

@Suite("Link layer adverts")
struct LinkLayerAdvertisementTests {
    /// Returns a packet with access address, header, payload, and three bytes without a valid CRC.
    private func packet(
        _ type: UInt8, _ payload: String, length: Int? = nil, coding: [UInt8] = [], crc: String = "000000"
    ) throws -> [UInt8] {
        let payload = try bytes(payload)
        return try bytes("D6BE898E") + coding + [type, UInt8(length ?? payload.count)] + payload + bytes(crc)
    }

    private struct Heard: Hashable {
        var kind: AdvertisingReport.Kind
        var address: DeviceAddress
        var advert: [UInt8]
    }

    private func heard(_ packet: [UInt8], headerOffset: Int = 4) -> Heard? {
        LinkLayerAdvertisement(packet: packet.span.bytes, headerOffset: headerOffset).map {
            Heard(kind: $0.kind, address: $0.address, advert: Array(packet[$0.offset..<$0.offset + $0.count]))
        }
    }

    @Test(
        "The PDU types with adverts are read",
        arguments: [
            (UInt8(0), AdvertisingReport.Kind.connectable), (2, .nonConnectable), (4, .scanResponse), (6, .scannable),
        ])
    func kinds(type: UInt8, kind: AdvertisingReport.Kind) throws {
        let payload = "247372DFFA64 02 01 06"
        for (header, addressKind) in [
            (type, DeviceAddress.Kind.public), (type | 0x40, .random), (type | 0xA0, .public),
        ] {
            let address = DeviceAddress(bits: 0x64FA_DF72_7324, kind: addressKind)
            #expect(
                try heard(packet(header, payload)) == Heard(kind: kind, address: address, advert: bytes("02 01 06")))
        }
    }

    @Test("The PDU types without adverts are ignored", arguments: [UInt8(1), 3, 5, 8, 9, 15])
    func others(type: UInt8) throws {
        #expect(try heard(packet(type, "247372DFFA64 AABBCCDDEEFF")) == nil)
    }

    @Test("An advert may be empty")
    func empty() throws {
        #expect(try heard(packet(2, "247372DFFA64"))?.advert == [])
        #expect(try heard(packet(2, "247372DFFA", crc: "00000000")) == nil, "no room for an address")
    }

    @Test("A packet with another access address belongs to a connection")
    func accessAddress() throws {
        var packet = try packet(2, "247372DFFA64 02 01 06")
        packet[0] ^= 1
        #expect(heard(packet) == nil)
    }

    @Test("A truncated packet keeps its address and loses its advert")
    func cut() throws {
        let whole = try packet(0x42, "247372DFFA64 02 01 06", crc: "")
        for end in 0..<whole.count {
            let found = heard(Array(whole[..<end]))
            #expect((found == nil) == (end < 12), "\(end)")
            #expect(found?.advert ?? [] == [])
        }
        #expect(heard(whole)?.advert.count == 3)
    }

    @Test("An extended advert with an address is read, with any other fields in its header")
    func extended() throws {
        let address = DeviceAddress(bits: 0x64FA_DF72_7324, kind: .random)
        let advert = try bytes("02 01 06")
        // The length of the extended header, its flags, the address; then set identifier and transmit power.
        #expect(
            try heard(packet(0x47, "07 01 247372DFFA64 02 01 06"))
                == Heard(kind: .extended, address: address, advert: advert))
        #expect(
            try heard(packet(0x47, "CA 49 247372DFFA64 1234 7F 02 01 06"))
                == Heard(kind: .extended, address: address, advert: advert))
        #expect(try heard(packet(0x47, "07 01 247372DFFA64"))?.advert == [])
    }

    @Test(
        "Extended adverts without an address, or with a header that is too long, are ignored",
        arguments: [
            "07 02 247372DFFA64 02 01 06", "06 01 247372DFFA 02 01 06", "0B 01 247372DFFA64 02 01", "07 01 2473727324",
        ])
    func extendedOthers(payload: String) throws { #expect(try heard(packet(0x47, payload)) == nil) }

    @Test("A truncated extended advert is not an advert")
    func extendedCut() throws {
        let whole = try packet(0x47, "07 01 247372DFFA64 02 01 06", crc: "")
        for end in 0..<whole.count { #expect(heard(Array(whole[..<end])) == nil, "\(end)") }
    }

    @Test("On the coded PHY, the header is one byte further")
    func coded() throws {
        let packet = try packet(0x42, "247372DFFA64 02 01 06", coding: [0])
        #expect(heard(packet, headerOffset: 5)?.advert.count == 3)
        #expect(heard(packet, headerOffset: 5)?.address.bits == 0x64FA_DF72_7324)
        #expect(heard(packet)?.address.bits != 0x64FA_DF72_7324)
    }

    @Test("Random packets never give bytes from outside of them", arguments: 0..<8)
    func randomPackets(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var found = 0
        for _ in 0..<2000 {
            var packet = try bytes("D6BE898E") + random.bytes(.random(in: 0..<64, using: &random))
            if packet.count > 5 { packet[5] &= 63 }
            for offset in 4...5 {
                if heard(packet, headerOffset: offset) != nil { found += 1 }
                _ = LinkLayerAdvertisement.integrity(of: packet.span.bytes, headerOffset: offset)
            }
        }
        #expect(found > 200, "the packets are too random to test anything")
    }
}
