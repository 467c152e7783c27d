import BeaconModel
import BeaconSupport
import Testing

@Suite("Proximity UUID")
struct ProximityUUIDTests {
    private let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

    @Test(
        "A UUID is read in both cases, with and without hyphens",
        arguments: [
            "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
            "E2c56dB5-dFFb-48D2-b060-D0f5a71096e0", "e2c56db5dffb48d2b060d0f5a71096e0",
        ])
    func reads(text: String) {
        #expect(ProximityUUID(text) == uuid)
        #expect(ProximityUUID(text[...]) == uuid)
    }

    @Test(
        "Other text is not a UUID",
        arguments: [
            "", "-", "e2c56db5", "e2c56db5-dffb-48d2-b060-d0f5a71096e", "e2c56db5-dffb-48d2-b060-d0f5a71096e00",
            "e2c56db5dffb-48d2-b060-d0f5a71096e0", "e2c56db5-dffb48d2b060d0f5a71096e0",
            "-e2c56db5dffb48d2b060d0f5a71096e0", "e2c56db5dffb48d2b060d0f5a71096e0-",
            "e2c5-6db5dffb-48d2-b060-d0f5a71096e0", "e2c56db5--dffb-48d2b060-d0f5a71096e0",
            "g2c56db5-dffb-48d2-b060-d0f5a71096e0", " e2c56db5-dffb-48d2-b060-d0f5a71096e0",
            "{e2c56db5-dffb-48d2-b060-d0f5a71096e0}", "e2c56db5-dffb-48d2-b060-d0f5a71096e\u{FF10}",
            "e2c56db5\u{2010}dffb\u{2010}48d2\u{2010}b060\u{2010}d0f5a71096e0",
        ])
    func rejects(text: String) { #expect(ProximityUUID(text) == nil) }

    @Test("A UUID is written in lower case with hyphens")
    func description() {
        #expect(uuid.description == "e2c56db5-dffb-48d2-b060-d0f5a71096e0")
        #expect(ProximityUUID(high: 0, low: 1).description == "00000000-0000-0000-0000-000000000001")
    }

    @Test("Any UUID is read back from its text", arguments: 0..<4)
    func roundTrip(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<250 {
            let uuid = ProximityUUID(high: random.next(), low: random.next())
            #expect(ProximityUUID(uuid.description) == uuid)
            #expect(ProximityUUID(uuid.description.filter { $0 != "-" }.uppercased()) == uuid)
        }
    }

    @Test("UUIDs are ordered by their bytes, as unsigned numbers")
    func order() {
        let ascending = [
            ProximityUUID(high: 0, low: 0), ProximityUUID(high: 0, low: .max), ProximityUUID(high: 1, low: 0),
            ProximityUUID(high: 1 << 63, low: 0), ProximityUUID(high: 1 << 63, low: 1 << 63),
        ]
        #expect(ascending.reversed().sorted() == ascending)
        #expect(!(uuid < uuid))
    }
}
