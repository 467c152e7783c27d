import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("Sniffers' packets")
struct SnifferPacketTests {
    private let advert = Advert.samples[0]

    private func reading(_ linkType: UInt32, _ packet: [UInt8]) throws -> Reading {
        try Reading(Pcap().header(linkType: linkType) + Pcap().record(microseconds: 0, packet))
    }

    @Test("A packet that the receiver marks as bad is counted and delivered as damaged")
    func marked() throws {
        var nordic = advert.packet(linkType: 272)
        nordic[8] = 0
        var header = advert.packet(linkType: 256)
        header[9] = 0x04
        for (linkType, packet) in [(272, nordic), (256, header)] as [(UInt32, [UInt8])] {
            let reading = try reading(linkType, packet)
            #expect(reading.heard.map(\.isDamaged) == [true])
            #expect(reading.counts.badCRC == 1)
            #expect(reading.counts.reports == 1)
        }
    }

    @Test(
        "A packet with a wrong CRC is damaged, even if the receiver does not report that",
        arguments: [251, 256, 272])
    func wrongSum(linkType: UInt32) throws {
        var packet = advert.packet(linkType: UInt16(linkType))
        packet[packet.count - 5] ^= 0x10
        if linkType == 256 { packet[9] = 0 }
        let reading = try reading(linkType, packet)
        #expect(reading.heard.map(\.isDamaged) == [true])
        #expect(
            reading.counts.badCRC == (linkType == 251 ? 1 : 0), "only what the receiver or the format checks counts")
    }

    @Test("A CRC of zero proves nothing", arguments: [251, 256, 272])
    func zeroSum(linkType: UInt32) throws {
        var packet = advert.packet(linkType: UInt16(linkType))
        packet.replaceSubrange(packet.count - 3..<packet.count, with: [0, 0, 0])
        #expect(try reading(linkType, packet).heard.map(\.isDamaged) == [false])
    }

    @Test("The signal is read if it is present")
    func signal() throws {
        var header = advert.packet(linkType: 256)
        header[8] = 0x11
        #expect(try reading(256, header).heard.first?.rssi == nil)
        var nordic = advert.packet(linkType: 272)
        nordic[10] = 128
        #expect(try reading(272, nordic).heard.first?.rssi == nil)
        nordic[10] = 127
        #expect(try reading(272, nordic).heard.first?.rssi == -127)
    }

    @Test("Whitened packets are not readable")
    func whitened() throws {
        var header = advert.packet(linkType: 256)
        header[8] = 0x12
        let reading = try reading(256, header)
        #expect(reading.heard.isEmpty)
        #expect(reading.counts.packets == 1)
    }

    @Test("The coded PHY's packets have a byte after the access address")
    func coded() throws {
        for (linkType, count) in [(256, 10), (272, 17)] as [(UInt32, Int)] {
            var packet = advert.packet(linkType: UInt16(linkType))
            packet.insert(0, at: count + 4)
            if linkType == 256 { packet[9] |= 0x80 } else { packet[8] |= 0x20 }
            let reading = try reading(linkType, packet)
            #expect(reading.heard.first?.frame == advert.frame)
            #expect(reading.heard.first?.isDamaged == false)
        }
    }

    @Test("Packets that are too short hold no adverts", arguments: [251, 256, 272])
    func short(linkType: UInt32) throws {
        let packet = advert.packet(linkType: UInt16(linkType))
        for count in 0..<packet.count {
            let reading = try reading(linkType, Array(packet[..<count]))
            #expect(reading.error == nil)
            #expect(reading.heard.allSatisfy { $0.frame == nil || count >= packet.count - 3 }, "\(count)")
        }
    }
}
