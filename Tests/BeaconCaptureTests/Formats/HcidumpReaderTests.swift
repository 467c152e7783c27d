import BeaconCapture
import BeaconRadio
import Testing

@Suite("hcidump text")
struct HcidumpReaderTests {
    private let advert = Advert.samples[0]
    private var packet: String { Hcidump.packet([4] + advert.event) }

    private func reading(_ text: String) throws -> Reading { try Reading(Array(text.utf8)) }

    @Test("Sent packets are counted and hold no adverts")
    func sent() throws {
        let reading = try reading("< 01 0C 20 02 01 00 \n" + packet + "<" + packet.dropFirst())
        #expect(reading.counts.packets == 3)
        #expect(reading.heard.count == 1)
        #expect(reading.error == nil)
    }

    @Test(
        "dates",
        arguments: [
            ("1970-01-01 00:00:00.000000", 0), ("2000-02-29 23:59:59.999999", 951_868_799_999_999_000),
            ("2100-03-01 00:00:00.000001", 4_107_542_400_000_001_000), ("1969-12-31 23:59:59.000000", 0),
            ("0000-01-01 00:00:00.000000", 0), ("2262-04-12 00:00:00.000000", .max / 2),
            ("9999-12-31 23:59:59.999999", .max / 2),
        ] as [(String, Int64)])
    func dates(text: String, nanoseconds: Int64) throws {
        #expect(try reading("\(text) \(packet)").records == [nanoseconds])
    }

    @Test(
        "Other text is not a date",
        arguments: [
            "2026-13-01 00:00:00.000000", "2026-00-01 00:00:00.000000", "2026-01-32 00:00:00.000000",
            "2026-01-01T00:00:00.000000",
        ])
    func noDates(text: String) throws {
        #expect(try reading("\(text) \(packet)").error?.code == .unknownFormat)
    }

    @Test(
        "Lines of other programs are ignored, and counted after the first packet",
        arguments: ["zz", "x 04", "2026", "// Gimbal"])
    func foreignLines(line: String) throws {
        #expect(try reading("HCI sniffer\n\(line)\n\(packet)").heard.count == 1)
        let text = "\(packet)\(line)\n\(packet)\(line)\n\n\(packet)\(line)\n"
        #expect(try reading(text).heard.count == 3)
        #expect(try reading(text).error == nil)
        var reader = try CaptureReader(bytes: Array(text.utf8))
        var batch = AdvertBatch()
        while try reader.next(into: &batch) != nil {}
        #expect(reader.foreignLines.count == 3)
        #expect(reader.foreignLines.first == packet.utf8.count)
    }

    @Test("An endless packet is damage as soon as it exceeds the maximum length")
    func endlessPacket() throws {
        let line = "  " + String(repeating: "00 ", count: 1000) + "\n"
        let reading = try reading(packet + packet + String(repeating: line, count: 100))
        #expect(reading.heard.count == 1)
        #expect(reading.error?.code == .damaged)
        let limit = (1 + 4 + 65_535) * 3
        let place = try #require(reading.error?.offset) - 2 * packet.utf8.count
        #expect(place > limit - 1000 && place < limit + 1000)
    }

    @Test("Text other than hexadecimal bytes is damage, at its place")
    func digits() throws {
        let reading = try reading("\(packet)> 04 3E 0x\n\(packet)")
        #expect(reading.heard.count == 1)
        #expect(reading.error?.code == .damaged)
        #expect(reading.error?.offset == packet.utf8.count + "> 04 3E 0".utf8.count)
    }

    @Test(
        "A truncated last packet of any type is an error",
        arguments: [
            ">", "> ", "> 04", "> 04 3E", "> 04 3E 01", "> 02 01 00", "> 02 01 00 02 00 FF", "< 01 03 0C",
            "< 01 03 0C 01",
        ])
    func cut(last: String) throws {
        let reading = try reading(packet + last)
        #expect(reading.heard.count == 1)
        #expect(reading.error?.code == .truncated)
        #expect(reading.error?.offset == packet.utf8.count)
    }

    @Test(
        "A complete last packet is not an error",
        arguments: ["> 04 3E 00", "> 02 01 00 01 00 FF", "< 01 03 0C 00"])
    func whole(last: String) throws {
        let reading = try reading(packet + last)
        #expect(reading.counts.packets == 2)
        #expect(reading.error == nil)
    }
}
