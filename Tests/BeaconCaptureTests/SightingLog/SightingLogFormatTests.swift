import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("Writing of sighting logs")
struct SightingLogFormatTests {
    private func line(_ sighting: Sighting, time: Timestamp?, receiver: String) -> [UInt8] {
        var bytes: [UInt8] = []
        SightingLogFormat.append(sighting, time: time, receiver: SightingLogFormat.jsonText(receiver), to: &bytes)
        return bytes
    }

    private let sighting = Sighting(
        time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: 0xC1B2_A394_8576, kind: .random),
        identity: Advert.samples[0].frame.identity, measuredPower: -59, rssi: SignalStrength(rawValue: -70))

    @Test("A line is written as documented")
    func text() {
        let line = line(sighting, time: Timestamp(nanoseconds: 1_700_000_000_120_000_000), receiver: "hci0")
        #expect(
            String(decoding: line, as: UTF8.self)
                == #"{"time":1700000000.120,"receiver":"hci0","address":"c1:b2:a3:94:85:76","#
                + #""uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":258,"minor":772,"#
                + #""measuredPower":-59,"rssi":-70}"# + "\n")
    }

    @Test(
        "Times are rounded to the millisecond",
        arguments: [
            (0, 0), (499_999, 0), (500_000, 1_000_000), (999_500_000, 1_000_000_000),
            (1_700_000_000_007_000_000, 1_700_000_000_007_000_000),
            (1_700_000_000_099_600_000, 1_700_000_000_100_000_000),
        ] as [(Int64, Int64)])
    func times(nanoseconds: Int64, read: Int64) throws {
        let line = line(sighting, time: Timestamp(nanoseconds: nanoseconds), receiver: "hci0")
        #expect(try Reading(line).records == [read])
    }

    @Test("A missing time is null")
    func noTime() throws {
        let line = line(sighting, time: nil, receiver: "hci0")
        #expect(line.starts(with: #"{"time":null,"#.utf8))
        #expect(try Reading(line).records == [nil])
    }

    @Test(
        "Any receiver's name is preserved",
        arguments: [
            "", "hci0", "Küche \u{1F600}", "a\"b\\c/d", "\u{0}\u{1}\n\r\t\u{1F}\u{7F}", "\u{2028}", "{\"a\":1}",
        ])
    func names(name: String) throws {
        let line = line(sighting, time: nil, receiver: name)
        #expect(line.filter { $0 < 0x20 } == [UInt8(ascii: "\n")], "control characters are escaped")
        let reading = try Reading(line + line)
        #expect(reading.heard.map(\.receiver) == [name, name])
    }

    @Test("A missing measured power is null, and is missing again after reading")
    func noPower() throws {
        var sighting = sighting
        sighting.measuredPower = IBeaconFrame.unavailableMeasuredPower
        let line = String(decoding: line(sighting, time: nil, receiver: "a"), as: UTF8.self)
        #expect(line.contains(#""measuredPower":null,"#))
        for text in [line, line.replacing(#""measuredPower":null,"#, with: "")] {
            let heard = try Reading(Array(text.utf8)).heard.first
            #expect(heard?.frame?.measuredPower == IBeaconFrame.unavailableMeasuredPower)
        }
    }

    @Test("A strength of null, 127, 0 or more is not a reading", arguments: ["null", "127", "0", "20"])
    func noReading(rssi: String) throws {
        let line = String(decoding: line(sighting, time: nil, receiver: "a"), as: UTF8.self)
        let heard = try Reading(Array(line.replacing("-70", with: rssi).utf8)).heard.first
        #expect(heard != nil && heard?.rssi == nil)
    }

    @Test("Each value is preserved at its limits")
    func bounds() throws {
        for (power, rssi) in [(Int8.min, Int8.max), (.max, .min), (0, 0)] {
            for number in [UInt16.min, .max] {
                var extreme = sighting
                extreme.measuredPower = power
                extreme.rssi = SignalStrength(rawValue: rssi)
                extreme.identity = BeaconIdentity(
                    uuid: ProximityUUID(high: 0, low: .max), major: number, minor: ~number)
                let heard = try #require(try Reading(line(extreme, time: .latest, receiver: "a")).heard.first)
                #expect(heard.frame == IBeaconFrame(identity: extreme.identity, measuredPower: power))
                #expect(heard.rssi == extreme.rssi.dBm)
                #expect(heard.address.bits == extreme.address.bits)
            }
        }
    }
}
