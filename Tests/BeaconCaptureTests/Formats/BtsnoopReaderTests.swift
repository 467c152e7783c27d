import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("btsnoop")
struct BtsnoopReaderTests {
    private let advert = Advert.samples[0]

    @Test(
        "An unsupported datalink is named in the error",
        arguments: [1, 1000, 1003, 2002] as [UInt32])
    func unsupported(datalink: UInt32) throws {
        let reading = try Reading(Btsnoop.header(datalink: datalink))
        #expect(reading.error?.code == .unsupported)
        #expect(reading.error?.offset == 12)
        #expect(reading.error?.message.contains("\(datalink)") == true)
    }

    @Test("Datalink 1001 marks events by its flags", arguments: [(3, 1), (0, 0), (1, 0), (2, 0)])
    func direction(flags: UInt32, heard: Int) throws {
        let record = Btsnoop.record(flags: flags, microseconds: 0, advert.event)
        let reading = try Reading(Btsnoop.header(datalink: 1001) + record)
        #expect(reading.heard.count == heard)
        #expect(reading.counts.packets == 1)
    }

    @Test("Datalink 2001 distinguishes controllers by their announced names")
    func controllers() throws {
        func introduction(_ controller: UInt32, _ name: String) -> [UInt8] {
            let field = Array(name.utf8) + [UInt8](repeating: 0, count: 8 - name.utf8.count)
            return Btsnoop.record(flags: controller << 16, microseconds: 0, [0, 0, 1, 2, 3, 4, 5, 6] + field)
        }
        func event(_ controller: UInt32, kind: UInt32 = 3) -> [UInt8] {
            Btsnoop.record(flags: controller << 16 | kind, microseconds: 0, advert.event)
        }
        let reading = try Reading(
            join(
                Btsnoop.header(datalink: 2001), introduction(1, "lounge"), introduction(2, "eightlet"),
                introduction(3, ""), event(1), event(2), event(3), event(7), event(1), event(1, kind: 2),
                event(0xFFFF)))
        #expect(reading.heard.map(\.receiver) == ["lounge", "eightlet", "hci3", "hci7", "lounge"])
        #expect(reading.counts.packets == 10)
        #expect(reading.error == nil)
    }

    @Test("A record of an impossible length is damage", arguments: [1 << 17 | 1, .max, 1 << 31] as [UInt32])
    func impossibleLength(count: UInt32) throws {
        let whole = Btsnoop.header(datalink: 1001) + Btsnoop.record(flags: 3, microseconds: 5, advert.event)
        var damaged = Btsnoop.record(flags: 3, microseconds: 6, advert.event)
        damaged.replaceSubrange(4..<8, with: number(count, isBigEndian: true))
        let reading = try Reading(whole + damaged)
        #expect(reading.heard.count == 1)
        #expect(reading.error?.code == .damaged)
        #expect(reading.error?.offset == whole.count)
    }

    @Test("Times before 1970 and after the latest time are clamped", arguments: [Int64.min, -1, .max])
    func times(stamp: Int64) throws {
        var record = Btsnoop.record(flags: 3, microseconds: 0, advert.event)
        record.replaceSubrange(16..<24, with: number(stamp, isBigEndian: true))
        let reading = try Reading(Btsnoop.header(datalink: 1001) + record)
        let time = try #require(reading.heard.first?.time)
        #expect(time == (stamp == -1 ? 0 : .max / 2))
    }
}
