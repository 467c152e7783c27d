import BeaconCapture
import BeaconRadio
import Testing

@Suite("PacketLogger")
struct PacketLoggerReaderTests {
    private let advert = Advert.samples[0]

    @Test("Only received events hold adverts; other packets are counted", arguments: [false, true])
    func types(isBigEndian: Bool) throws {
        func record(_ type: UInt8) -> [UInt8] {
            PacketLogger.record(microseconds: 7, type: type, advert.event, isBigEndian: isBigEndian)
        }
        let reading = try Reading(join(record(0xFB), record(0x00), record(0x02), record(0x01), record(0xFC)))
        #expect(reading.format == .packetLogger)
        #expect(reading.counts.packets == 5)
        #expect(reading.heard.count == 1)
        #expect(reading.records == [7000, 7000, 7000, 7000, 7000])
    }

    @Test("The upper bits of an advert's type, which Apple's controllers set, change nothing", arguments: 0..<16)
    func upperBits(bits: UInt8) throws {
        var event = advert.event
        // Event, length, subevent, count, type.
        event[4] |= bits << 4
        let plain = try Reading(PacketLogger.record(microseconds: 7, type: 1, advert.event, isBigEndian: true))
        let reading = try Reading(PacketLogger.record(microseconds: 7, type: 1, event, isBigEndian: true))
        #expect(reading.heard == plain.heard && reading.heard.count == 1)
        #expect(reading.counts == plain.counts)
    }

    @Test("An implausible record is damage")
    func damage() throws {
        let good = PacketLogger.record(microseconds: 7, type: 1, advert.event, isBigEndian: true)
        let before = good + good
        for (place, value) in [(0, 0xFF), (12, 0x55), (8, 0xFF)] as [(Int, UInt8)] {
            var bad = good
            bad[place] = value
            let reading = try Reading(before + bad)
            #expect(reading.heard.count == 2)
            #expect(reading.error?.code == .damaged)
            #expect(reading.error?.offset == before.count)
        }
    }
}
