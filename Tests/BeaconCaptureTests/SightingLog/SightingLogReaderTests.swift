import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("Reading of sighting logs")
struct SightingLogReaderTests {
    private static let uuid = #""uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0""#

    private func reading(_ text: String) throws -> Reading { try Reading(Array(text.utf8)) }

    @Test(
        "Keys may have any order, and unknown keys are ignored",
        arguments: [
            #"{"rssi":-70,"minor":2,"major":1,\#(uuid),"receiver":"a","time":1}"#,
            #"{"x":{"y":[1,{"z":[null,true,false,"}]",-1.5e3]}],"w":{}},\#(uuid),"major":1,"v":[],"minor":2,"rssi":-70,"receiver":"a","time":1}"#,
            " \t{ \"time\" : 1.000 , \"receiver\" : \"a\" , \(uuid) , \"major\" : 1 , \"minor\" : 2 , \"rssi\" : -70 } \t\r",
            #"{"time":1e0,"receiver":"\u0061",\#(uuid),"major":1.0,"minor":2e0,"rssi":-7.0e1,"measuredPower":null}"#,
            #"{"\u0074ime":1,"receiver":"a","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":2,"rssi":-70,"address":null}"#,
        ])
    func order(line: String) throws {
        let reading = try reading(line + "\n")
        #expect(reading.error == nil)
        let heard = try #require(reading.heard.first)
        #expect(heard.time == 1_000_000_000)
        #expect(heard.receiver == "a")
        #expect(heard.rssi == -70)
        #expect(heard.address.kind == .anonymous)
        let identity = BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1, minor: 2)
        let none = IBeaconFrame.unavailableMeasuredPower
        #expect(heard.frame == IBeaconFrame(identity: identity, measuredPower: none))
    }

    @Test("The time may be null or missing; receiver and address may be missing", arguments: ["", #""time":null,"#])
    func missing(time: String) throws {
        let reading = try reading(#"{\#(time)\#(Self.uuid),"major":1,"minor":2,"rssi":127}"#)
        let heard = try #require(reading.heard.first)
        #expect(reading.records == [nil])
        #expect(heard.time == nil)
        #expect(heard.receiver == "log")
        #expect(heard.rssi == nil)
    }

    @Test(
        "The error names a missing required key", arguments: ["uuid", "major", "minor", "rssi"])
    func needed(key: String) throws {
        let pairs = [
            ("uuid", "\"e2c56db5dffb48d2b060d0f5a71096e0\""), ("major", "1"), ("minor", "2"), ("rssi", "-70"),
        ]
        let line = pairs.filter { $0.0 != key }.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        let reading = try reading("{\(line)}\n")
        #expect(reading.error?.code == .damaged)
        #expect(reading.error?.message.contains("\"\(key)\"") == true)
    }

    @Test(
        "Times are read to the nanosecond, and invalid times are errors",
        arguments: [
            ("0", 0), ("1700000000.123456789", 1_700_000_000_123_456_789),
            ("1700000000.1234567899", 1_700_000_000_123_456_789),
            ("1.7e9", 1_700_000_000_000_000_000), ("4611686018", 4_611_686_018_000_000_000), ("4611686019", nil),
            ("99999999999", nil), ("-1", nil), ("1e300", nil), ("1e999", nil), ("\"1\"", nil), ("true", nil),
            ("1.2.3", nil),
            ("[1]", nil), ("", nil),
        ] as [(String, Int64?)])
    func times(text: String, nanoseconds: Int64?) throws {
        let reading = try reading(#"{\#(Self.uuid),"major":1,"minor":2,"rssi":-70,"time":\#(text)}"# + "\n")
        #expect(reading.records == (nanoseconds.map { [$0] } ?? []))
        #expect((reading.error == nil) == (nanoseconds != nil))
    }

    @Test(
        "Numbers outside of their limits are errors",
        arguments: [
            ("major", "65535", true), ("major", "65536", false), ("major", "-1", false), ("minor", "1.5", false),
            ("minor", "0", true), ("rssi", "-128", true), ("rssi", "128", false), ("measuredPower", "127", true),
            ("measuredPower", "-129", false), ("major", "\"1\"", false), ("rssi", "1e400", false),
        ])
    func bounds(key: String, value: String, isGood: Bool) throws {
        // If two keys are equal, the last counts.
        let reading = try reading(#"{\#(Self.uuid),"major":1,"minor":2,"rssi":-70,"\#(key)":\#(value)}"# + "\n")
        #expect((reading.error == nil) == isGood)
        #expect(reading.heard.count == (isGood ? 1 : 0))
    }

    @Test(
        "Escapes in texts are read",
        arguments: [
            (#"a\"b\\c\/d"#, "a\"b\\c/d"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"), (#"\u00e9\u20AC"#, "\u{E9}\u{20AC}"),
            (#"\ud83d\ude00!"#, "\u{1F600}!"), (#"\ud83d"#, "\u{FFFD}"), ("Küche\\n2", "K\u{FC}che\n2"), ("", ""),
        ])
    func escapes(text: String, receiver: String) throws {
        let reading = try reading(#"{"receiver":"\#(text)",\#(Self.uuid),"major":1,"minor":2,"rssi":-70}"#)
        #expect(reading.heard.map(\.receiver) == [receiver])
    }

    @Test(
        "A line that is not a sighting is damage, and everything before it is delivered",
        arguments: [
            "{", "{}", "{]", "x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":tru}", "{\"a\":[1}", "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12g4\"}", "{\"a\":\"b", "{\(uuid),\"major\":1,\"minor\":2,\"rssi\":-70} x",
            "{\"uuid\":\"e2c56db5\",\"major\":1,\"minor\":2,\"rssi\":-70}",
            "{\(uuid),\"major\":1,\"minor\":2,\"rssi\":-70,\"address\":\"aa:bb\"}",
            "{\"a\":" + String(repeating: "[", count: 100_000),
        ])
    func damage(line: String) throws {
        let good = #"{\#(Self.uuid),"major":1,"minor":2,"rssi":-70}"# + "\n"
        let inside = try reading(good + line + "\n" + good)
        #expect(inside.heard.count == 1)
        #expect(inside.error?.code == .damaged)
        let place = inside.error?.offset ?? -1
        #expect((good.utf8.count...good.utf8.count + line.utf8.count).contains(place))
        let atEnd = try reading(good + line)
        #expect(atEnd.error?.code == .truncated)
    }

    @Test("Blank lines and a missing last end of line are ignored")
    func blankLines() throws {
        let line = #"{\#(Self.uuid),"major":1,"minor":2,"rssi":-70}"#
        let reading = try reading("\n\n  \n\(line)\r\n \t \r\n\n\(line)")
        #expect(reading.heard.count == 2)
        #expect(reading.error == nil)
    }

    @Test("A line without end is damage, and does not exhaust memory")
    func endlessLine() throws {
        let reading = try Reading([UInt8(ascii: "{")] + [UInt8](repeating: 0x20, count: 3 << 20))
        #expect(reading.error?.code == .damaged)
    }
}
