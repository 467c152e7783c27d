import BeaconCapture
import BeaconRadio
import Testing

@Suite("pcap")
struct PcapReaderTests {
    private let advert = Advert.samples[0]

    @Test(
        "A link type other than Bluetooth is unsupported and named in the error", arguments: [0, 1, 105, 188, 257])
    func unsupported(linkType: UInt32) throws {
        let reading = try Reading(Pcap().header(linkType: linkType))
        #expect(reading.error?.code == .unsupported)
        #expect(reading.error?.offset == 20)
        #expect(reading.error?.message.contains("\(linkType) ") == true)
    }

    @Test("The upper bits of the link type are ignored")
    func upperBits() throws {
        let reading = try Reading(
            Pcap().header(linkType: 0x2400_0000 | 187) + Pcap().record(microseconds: 1, advert.packet(linkType: 187)))
        #expect(reading.heard.count == 1)
    }

    @Test("Nanoseconds are preserved")
    func nanoseconds() throws {
        let pcap = Pcap(isNanoseconds: true)
        var record = pcap.record(microseconds: 5_000_000, advert.packet(linkType: 187))
        record.replaceSubrange(4..<8, with: number(UInt32(123_456_789), isBigEndian: false))
        #expect(try Reading(pcap.header(linkType: 187) + record).records == [5_123_456_789])
    }

    @Test(
        "H4 packets other than events are counted and ignored", arguments: [[], [1], [2, 0x3E], [4], [4, 0x3E]])
    func others(packet: [UInt8]) throws {
        let reading = try Reading(Pcap().header(linkType: 187) + Pcap().record(microseconds: 0, packet))
        #expect(reading.heard.isEmpty)
        #expect(reading.counts.packets == 1)
        #expect(reading.error == nil)
    }

    @Test("A record of an impossible length is damage")
    func impossibleLength() throws {
        var record = Pcap().record(microseconds: 0, [])
        record.replaceSubrange(8..<12, with: number(UInt32(1 << 18 | 1), isBigEndian: false))
        let reading = try Reading(Pcap().header(linkType: 187) + record)
        #expect(reading.error?.code == .damaged)
        #expect(reading.error?.offset == 24)
    }
}
