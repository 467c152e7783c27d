import BeaconModel
import BeaconSupport
import Testing

@Suite("iBeacon frame")
struct IBeaconFrameTests {
    private static let payload = "4C 00 02 15 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5"

    private let expected = IBeaconFrame(
        identity: BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 0x0102, minor: 0xFFFE),
        measuredPower: -59)

    @Test(
        "A frame is found among any other structures",
        arguments: [
            "02 01 06 1A FF \(payload)", "02 01 1A 1A FF \(payload)", "02 01 04 1A FF \(payload)", "1A FF \(payload)",
            "1A FF \(payload) 02 01 06", "02 01 06 1B FF \(payload) 64", "02 01 06 1A FF \(payload) 00",
            "02 01 06 1A FF \(payload) 09", "02 01 06 1A FF \(payload) 03 03 AA", "01 09 1A FF \(payload)",
            "02 01 06 05 FF 4C 00 10 00 1A FF \(payload)", "03 03 0F 18 02 0A 00 1A FF \(payload) 00 00",
            "1B FF 18 01 BE AC 0102030405060708090A0B0C0D0E0F10 0001 0002 C5 09 1A FF \(payload)",
        ])
    func found(hex: String) throws { #expect(try frame(in: bytes(hex)) == expected) }

    @Test(
        "Other data is not a frame",
        arguments: [
            "", "02 01 06", payload, "02 01 06 19 FF \(payload.dropLast(3))",
            // The length claims more than there is, or less than a frame has.
            "02 01 06 1B FF \(payload)", "02 01 06 1F FF \(payload)", "02 01 06 19 FF \(payload)",
            // After early termination.
            "02 01 06 00 1A FF \(payload)",
            // Another AD type, another company, another type, another length.
            "1A FE \(payload)", "1A 16 \(payload)",
            "1A FF 4D 00 02 15 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5",
            "1A FF 4C 01 02 15 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5",
            "1A FF 00 4C 02 15 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5",
            "1A FF 4C 00 10 15 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5",
            "1A FF 4C 00 02 16 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5",
            // Not at the start of the manufacturer's data.
            "1B FF 00 \(payload)",
        ])
    func notFound(hex: String) throws { #expect(try frame(in: bytes(hex)) == nil) }

    @Test("The measured power has a sign", arguments: [(0x00, 0), (0x7F, 127), (0x80, -128), (0xFF, -1)])
    func measuredPower(byte: UInt8, power: Int8) throws {
        var advert = expected.advert
        advert[29] = byte
        #expect(frame(in: advert)?.measuredPower == power)
    }

    @Test("A frame is written byte for byte as on the air")
    func written() throws {
        #expect(try expected.advert == bytes("02 01 06 1A FF \(Self.payload)"))
        #expect(expected.advert.count == IBeaconFrame.advertCount)
    }

    @Test("Any frame is read back from its advert, and from the middle of another", arguments: 0..<4)
    func roundTrip(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<500 {
            let frame = IBeaconFrame(
                identity: BeaconIdentity(
                    uuid: ProximityUUID(high: random.next(), low: random.next()),
                    major: .random(in: 0...(.max), using: &random), minor: .random(in: 0...(.max), using: &random)),
                measuredPower: .random(in: .min...(.max), using: &random))
            #expect(BeaconModelTests.frame(in: frame.advert) == frame)
            // A service data structure of random bytes before it, random bytes after it.
            let before = random.bytes(.random(in: 0..<20, using: &random))
            let behind = random.bytes(.random(in: 0..<20, using: &random))
            let advert = [UInt8(before.count + 1), 0x16] + before + frame.advert + behind
            #expect(BeaconModelTests.frame(in: advert) == frame)
        }
    }

    @Test("Random bytes decode only if they contain a frame's bytes", arguments: 0..<8)
    func randomBytes(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var decoded = 0
        for _ in 0..<2000 {
            // Lengths and marks are similar to real ones, because pure noise is rejected at the first byte.
            var advert = random.bytes(.random(in: 0..<64, using: &random))
            for _ in 0..<Int.random(in: 0..<4, using: &random) where advert.count > 32 {
                let place = Int.random(in: 0..<advert.count - 31, using: &random)
                let mark: [UInt8] =
                    [[0x1A, 0xFF, 0x4C, 0, 2, 0x15], [0x1B, 0xFF, 0x4C, 0, 2, 0x15], [2, 1, 6]]
                    .randomElement(using: &random) ?? []
                advert.replaceSubrange(place..<place + mark.count, with: mark)
                if Bool.random(using: &random) { advert[0] = UInt8(max(0, place - 1)) }
            }
            guard let frame = frame(in: advert) else { continue }
            decoded += 1
            let marks = advert.indices.filter { advert[$0...].starts(with: [0x4C, 0x00, 0x02, 0x15]) }
            let isThere = marks.contains { place in
                place >= 2 && advert[place - 1] == 0xFF && advert[place - 2] >= 26
                    && place + 25 <= advert.count
                    && frame.advert.suffix(25).elementsEqual(advert[place..<place + 25])
            }
            #expect(isThere, "\(advert)")
        }
        #expect(decoded > 10, "the bytes are too random to test anything")
    }
}
