import BeaconModel
import BeaconRadio
import Testing

@testable import BeaconReceivers

/// Every field of every format, with values of a wrong type, sign or form.
@Suite("Values that cannot be read")
struct UnreadableFieldTests {
    /// A message of a format. A name in angle brackets stands for a field.
    struct Format: Sendable, CustomTestStringConvertible {
        var name: String
        /// The topic; `<receiver>` stands for the receiver's name.
        var topic = "x"
        var mapping: ReceiverMapping?
        var message: String
        /// The fields, each with a value that can be read.
        var fields: [String: String]
        /// True if values have no quotation marks and no other types than text.
        var isPlain = false
        var receivers = ["c8:00:00:00:00:01", "c8:00:00:00:00:02"]

        var testDescription: String { name }

        func topic(of receiver: String) -> String { topic.replacing("<receiver>", with: receiver) }

        /// Returns the message with one field's value replaced.
        func message(of receiver: String, _ changes: [String: String] = [:]) -> String {
            var text = message
            for (field, value) in fields.merging(changes, uniquingKeysWith: { $1 }) {
                text = text.replacing("<\(field)>", with: value)
            }
            return text.replacing("<receiver>", with: receiver)
        }
    }

    private static let uuid = "\"e2c56db5-dffb-48d2-b060-d0f5a71096e0\""
    private static let hexadecimal = "\"\(NetworkBench.hexadecimal)\""
    private static let beacon = ["uuid": uuid, "major": "1", "minor": "2", "power": "-59"]
    private static let common = ["rssi": "-70", "address": "\"c0:00:00:00:00:01\""]
    private static let dated = common.merging(["time": "1795806000"]) { $1 }
    private static let fields = #""uuid":<uuid>,"major":<major>,"minor":<minor>,"rssi_1m":<power>"#

    static func path(_ text: String) -> JSONPath { JSONPath(text) ?? JSONPath() }

    /// A mapping with all keys.
    static var mapping: ReceiverMapping {
        var mapping = ReceiverMapping(
            receiver: .path(path("gw")), each: path("list"), address: path("mac"), rssi: path("rssi"), uuid: path("u"),
            major: path("a"), minor: path("i"), power: path("p"), time: path("ts"))
        mapping.state = path("here")
        return mapping
    }

    static var dataMapping: ReceiverMapping {
        ReceiverMapping(
            receiver: .level(1), address: path("mac"), rssi: path("rssi"), data: path("raw"), time: path("ts"))
    }

    private static func with(_ one: [String: String], _ other: [String: String]) -> [String: String] {
        one.merging(other) { $1 }
    }

    static let formats = [
        Format(
            name: "OpenMQTTGateway", topic: "home/<receiver>/BTtoMQTT/1",
            message: #"{"id":<address>,"mac_type":<kind>,"rssi":<rssi>,"mfid":<company>,\#(fields)}"#,
            fields: with(common, with(beacon, ["kind": "1", "company": "\"4c00\""]))),
        Format(
            name: "OpenMQTTGateway, not decoded", topic: "home/<receiver>/BTtoMQTT/1",
            message: #"{"id":<address>,"rssi":<rssi>,"manufacturerdata":<data>}"#,
            fields: with(common, ["data": "\"\(NetworkBench.hexadecimal.dropFirst(10))\""])),
        Format(
            name: "ESPresense", topic: "espresense/devices/x/<receiver>",
            message: #"{"id":<id>,"mac":<address>,"rssi":<rssi>,"rssi@1m":<power>}"#,
            fields: with(
                common, ["id": "\"iBeacon:\(uuid.filter { $0 != "\"" })-1-2\"", "power": "-59"])),
        Format(
            name: "Shelly, version 1", topic: "<receiver>/events/rpc",
            message:
                #"{"params":{"events":[{"event":"ble.scan_result","data":[1,<address>,<rssi>,<data>,""]}]}}"#,
            fields: with(common, ["data": "\"\(NetworkBench.base64)\""])),
        Format(
            name: "Shelly, version 2", topic: "<receiver>/events/rpc",
            message:
                #"{"params":{"events":[{"event":"ble.scan_result","data":[2,[[<address>,<rssi>,<data>,""]]]}]}}"#,
            fields: with(common, ["data": "\"\(NetworkBench.base64)\""])),
        Format(
            name: "Ruuvi", topic: "ruuvi/<receiver>/C0:00:00:00:00:01",
            message: #"{"rssi":<rssi>,"data":<data>,"ts":<time>}"#,
            fields: ["rssi": "-70", "data": hexadecimal, "time": "\"1795806000\""]),
        Format(
            name: "Ruuvi, posted",
            message:
                #"{"data":{"timestamp":<posted>,"gw_mac":"<receiver>","tags":{<address>:{"rssi":<rssi>,"timestamp":<time>,"data":<data>}}}}"#,
            fields: with(
                common, ["data": hexadecimal, "posted": "\"1795806000\"", "time": "\"1795806000\""])),
        Format(
            name: "MOKO, 3070",
            message:
                #"{"msg_id":3070,"device_info":{"mac":"<receiver>"},"data":[{"type":"ibeacon","timestamp":<time>,"rssi":<rssi>,"mac":<address>,\#(fields)}]}"#,
            fields: with(dated, beacon)),
        Format(
            name: "MOKO, 3004",
            message:
                #"{"msg_id":3004,"device_info":{"mac":"<receiver>"},"data":[{"value":{"timestamp":<time>,"rssi":<rssi>,"mac":<address>,"raw data":<data>}}]}"#,
            fields: with(dated, ["data": hexadecimal])),
        Format(
            name: "Minew",
            message:
                #"[{"type":"Gateway","mac":"<receiver>"},{"mac":<address>,"rssi":<rssi>,"rawData":<data>}]"#,
            fields: with(common, ["data": hexadecimal])),
        Format(
            name: "Minew, decoded",
            message:
                #"[{"type":"Gateway","mac":"<receiver>"},{"mac":<address>,"rssi":<rssi>,"ibeaconUuid":<uuid>,"ibeaconMajor":<major>,"ibeaconMinor":<minor>,"ibeaconTxPower":<power>}]"#,
            fields: with(common, beacon)),
        Format(
            name: "Tasmota", topic: "tele/<receiver>/SENSOR",
            message:
                #"{"IBEACON":{"MAC":<address>,"UID":<uuid>,"MAJOR":<major>,"MINOR":<minor>,"RSSI":<rssi>,"STATE":<state>}}"#,
            fields: with(
                common, ["uuid": uuid, "major": "\"0001\"", "minor": "\"0002\"", "state": "\"ON\""])),
        Format(
            name: "raddec",
            message:
                #"{"transmitterId":<address>,"transmitterIdType":<kind>,"rssiSignature":[{"receiverId":"<receiver>","rssi":<rssi>}],"timestamp":<time>,"packets":[<packet>]}"#,
            fields: with(
                dated, ["kind": "3", "packet": "\"46240100000000c0\(NetworkBench.hexadecimal)\""])),
        Format(
            name: "Ingics", message: "$GPRP,<address>,<receiver>,<rssi>,<data>,<time>",
            fields: [
                "address": "C00000000001", "rssi": "-70", "data": NetworkBench.hexadecimal, "time": "1795806000",
            ], isPlain: true),
        Format(
            name: "a mapping of fields", mapping: mapping,
            message:
                #"{"gw":"<receiver>","list":[{"mac":<address>,"rssi":<rssi>,"u":<uuid>,"a":<major>,"i":<minor>,"p":<power>,"ts":<time>,"here":<state>}]}"#,
            fields: with(dated, with(beacon, ["state": "\"on\""]))),
        Format(
            name: "a mapping, with a time for all", mapping: mapping,
            message:
                #"{"gw":"<receiver>","ts":<time>,"list":[{"mac":<address>,"rssi":<rssi>,"u":<uuid>,"a":<major>,"i":<minor>,"p":<power>}]}"#,
            fields: with(dated, beacon)),
        Format(
            name: "a mapping of bytes", topic: "<receiver>/x", mapping: dataMapping,
            message: #"{"mac":<address>,"rssi":<rssi>,"raw":<data>,"ts":<time>}"#,
            fields: with(dated, ["data": hexadecimal])),
    ]

    private static let types = ["true", "{}", "[]", #"{"a":-70}"#, "NaN", "+Infinity"]

    /// The wrong values of each field.
    static let wrong: [String: [String]] = [
        "rssi": ["61", "1", "126", "300", "-200", "1e40", "\"weak\"", "\"-60 dBm\"", "\"\"", "\"61\""],
        "address": ["5", "\"tag\"", "\"\"", "\"c0:00:00:00:00\"", "\"c0:00:00:00:00:01:02\""],
        "time": [
            "-5", "1e300", "\"\"", "\"yesterday\"", "\"2026-11-27\"", "\"2026-13-01T00:00:00Z\"",
            "\"2026-11-27T25:00:00Z\"", "\"2026-11-27T19:00:00+1\"", "\"Fri, 27 Nov 2026 19:00:00 GMT\"",
        ],
        "posted": ["\"\"", "\"now\"", "\"2026-11-27\""],
        "uuid": [
            "5", "\"12\"", "\"e2c56db5-dffb-48d2-b060-d0f5a71096e\"", "\"e2c56db5-dffb-48d2-b060-d0f5a71096e0-1\"",
        ],
        "major": ["-1", "65536", "\"x\"", "\"\"", "1e9"],
        "minor": ["-1", "65536", "\"x\"", "\"\"", "1e9"],
        "power": ["59", "1", "126", "300", "-200", "\"weak\"", "\"-59 dBm\""],
        "data": ["5", "\"xyz\"", "\"!\""],
        "packet": ["5", "\"xyz\"", "\"4c0\"", "\"4624\""],
        "state": ["2", "\"perhaps\"", "\"gone\""],
        "kind": ["\"public\""],
        "company": ["76", "\"4c\"", "\"Apple\""],
        "id": ["5", "\"iBeacon:\"", "\"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1\""],
    ]

    private static func bench(_ format: Format) -> NetworkBench {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = format.mapping
        return NetworkBench(settings)
    }

    @Test("A message without a fault is heard, and gives no notice", arguments: formats)
    func clean(format: Format) {
        var bench = Self.bench(format)
        for (number, receiver) in format.receivers.enumerated() {
            bench.receive(format.topic(of: receiver), format.message(of: receiver), at: 1001 + Double(number))
        }
        #expect(bench.heard.map { $0.dropFirst(2).prefix(21) } == Array(repeating: "c0:00:00:00:00:01 1/2", count: 2))
        #expect(bench.notices == [] && bench.network.faults.isEmpty)
        #expect(bench.readings == [-70, -70])
    }

    @Test("A wrong value gives one notice for each receiver and field, with the value", arguments: formats)
    func wrongValues(format: Format) throws {
        for field in format.fields.keys.sorted() {
            let values = try #require(Self.wrong[field], "\(field)")
            let types = format.isPlain ? [] : Self.types + (["major", "minor"].contains(field) ? ["null"] : [])
            for value in values + types {
                // The keys of an object are texts, and an empty text has no advert and no UUID.
                if format.name == "Ruuvi, posted", field == "address", !value.hasPrefix("\"") { continue }
                if format.isPlain, value == "\"\"" { continue }
                // Valid all the same.
                if field == "state", value == "true" { continue }
                if format.name.hasPrefix("Shelly"), value == "\"xyz\"" { continue }
                var bench = Self.bench(format)
                let written = format.isPlain ? value.filter { $0 != "\"" && $0 != "," } : value
                for number in 0..<8 {
                    let receiver = format.receivers[number % 2]
                    bench.receive(
                        format.topic(of: receiver), format.message(of: receiver, [field: written]),
                        at: 1001 + Double(number))
                }
                let shown = written.filter { $0 != "\"" }.prefix(60)
                let about: Comment = "\(format.name), \(field): \(value): \(bench.notices)"
                #expect(bench.notices.count == 2, about)
                for (notice, receiver) in zip(bench.notices, format.receivers) {
                    #expect(notice.contains(receiver), about)
                    let isShown = shown.isEmpty ? notice.contains("It is empty") : notice.contains(shown)
                    #expect(isShown || written.contains(#"{"a""#), about)
                }
                #expect(bench.network.faults.values.reduce(0, +) == 8, about)
                // It goes on with right values.
                let heard = bench.heard.count
                bench.receive(format.topic(of: format.receivers[0]), format.message(of: format.receivers[0]), at: 1010)
                #expect(bench.heard.count == heard + 1 && bench.notices.count == 2, about)
            }
        }
    }

    @Test("Several wrong values in one message are all reported", arguments: formats)
    func several(format: Format) {
        var bench = Self.bench(format)
        let changes = ["rssi": "61", "address": "tag", "time": "yesterday", "power": "59"]
            .filter { format.fields[$0.key] != nil }
            .mapValues { format.isPlain || Int($0) != nil ? $0 : "\"\($0)\"" }
        for number in 0..<5 {
            let receiver = format.receivers[0]
            bench.receive(format.topic(of: receiver), format.message(of: receiver, changes), at: 1001 + Double(number))
        }
        #expect(bench.notices.count == changes.count, "\(bench.notices)")
        for value in changes.values {
            #expect(bench.notices.count { $0.contains(value.filter { $0 != "\"" }) } == 1, "\(value)")
        }
        #expect(bench.heard.count == 5)
    }

    @Test("A signal strength from 128 to 255 is a byte without its sign", arguments: formats)
    func unsigned(format: Format) {
        var bench = Self.bench(format)
        for (number, rssi) in (128...255).enumerated() {
            let receiver = format.receivers[0]
            bench.receive(
                format.topic(of: receiver), format.message(of: receiver, ["rssi": "\(rssi)"]),
                at: 1001 + Double(number) / 20)
        }
        #expect(bench.readings == Array(-128 ... -1) && bench.notices == [])
    }

    @Test(
        "127 and null are no reading, which is not a fault", arguments: formats.filter { !$0.isPlain },
        ["127", "null", "-1"])
    func noReading(format: Format, rssi: String) {
        var bench = Self.bench(format)
        bench.receive(format.topic(of: "a1"), format.message(of: "a1", ["rssi": rssi]))
        if format.topic.contains("ruuvi") { return }
        #expect(bench.readings == [rssi == "-1" ? -1 : 127] && bench.notices == [])
    }

    @Test(
        "A damaged advert in ESPHome's messages ends the connection, and an impossible signal is reported",
        arguments: [1, 2, 3, 4])
    func espHome(field: Int) {
        var advert: [UInt8] = []
        for number in 1...4 where number != field {
            if number == 4 { advert.append(field: 4, bytes: [2, 1, 6]) } else { advert.append(field: number, 7) }
        }
        if field == 4 { advert.append(field: 4, 7) } else { advert.append(field: field, bytes: [1]) }
        var content: [UInt8] = []
        content.append(field: 1, bytes: advert)
        var heard = 0
        let isWhole = ESPHomeAdverts.forEach(in: content.span.bytes) { _, _, _ in heard += 1 }
        #expect(!isWhole && heard == 0)
    }

    @Test("An impossible signal of an ESPHome device is reported once", arguments: [61, 1, 300, -200])
    func espHomeSignal(rssi: Int) throws {
        var network = ReceiverNetwork()
        var batch = AdvertBatch()
        let met = network.meet("hall", at: NetworkBench.time(1000))
        let place = try #require(met)
        let advert: [UInt8] = [2, 1, 6]
        for number in 0..<5 {
            network.receiveAdvert(
                of: place, at: NetworkBench.time(1001 + Double(number)),
                address: DeviceAddress(bits: 1, kind: .public), rssi: rssi, advert: advert.span.bytes, &batch)
        }
        let notices = batch.drainEvents().compactMap {
            if case .notice(let notice) = $0 { notice.message } else { nil }
        }
        #expect(notices.count == 1 && notices[0].contains("\"\(rssi)\"") && notices[0].contains("hall"), "\(notices)")
    }
}

@Suite("Times in messages")
struct MessageTimeTests {
    /// 2026-11-27T19:00:00Z.
    private static let now = 1_795_806_000.0

    @Test(
        "A time is a number in seconds to nanoseconds, or a date and time",
        arguments: [
            ("1795805995", 5.0), ("\"1795805995\"", 5), ("1795805995.5", 4.5), ("1795805995000", 5),
            ("\"1795805995500\"", 4.5), ("1795805995000000", 5), ("1795805995000000000", 5),
            ("\"2026-11-27T18:59:55Z\"", 5), ("\"2026-11-27T18:59:55.5Z\"", 4.5), ("\"2026-11-27T18:59:55,25z\"", 4.75),
            ("\"2026-11-27t18:59:55.123456789Z\"", 4.876543211), ("\"2026-11-27 18:59:55\"", 5),
            ("\"2026-11-27T18:59:55\"", 5), ("\"2026-11-27T19:59:55+01:00\"", 5), ("\"2026-11-27T13:29:55-0530\"", 5),
            ("\"2026-11-28T00:59:55+06\"", 5), ("\"2026-11-27T19:59:55\\u002B01:00\"", 5), ("\"20261127T185955Z\"", 5),
            ("\"20261127T185955.5+0000\"", 4.5), ("\"2026-11-27T18:59Z\"", 60), ("\"20261127T1859Z\"", 60),
            ("\"2026-11-27T18:58:60Z\"", 60),
        ])
    func forms(text: String, age: Double) {
        for isAround in [false, true] {
            var settings = ReceiverNetwork.Settings()
            settings.mapping = UnreadableFieldTests.mapping
            var bench = NetworkBench(settings)
            for (number, time) in ["\(Int(Self.now))", text].enumerated() {
                let (inside, around) = isAround ? ("", #","ts":\#(time)"#) : (#","ts":\#(time)"#, "")
                bench.receive(
                    "x",
                    #"{"gw":"a","n":\#(number),"list":[{"rssi":-70,"u":"\#(NetworkBench.uuid)","a":1,"i":2\#(inside)}]\#(around)}"#,
                    at: 1100)
            }
            #expect(bench.notices == [])
            if age < 15 {
                #expect(bench.times.count == 2 && abs(bench.times[1] - (1100 - age)) < 1e-5, "\(bench.times)")
            } else {
                #expect(bench.times == [1100] && bench.network.lateAdverts == 1)
            }
        }
    }

    @Test(
        "An advert of an hour ago is not current, in each format with times",
        arguments: UnreadableFieldTests.formats.filter { $0.fields["time"] != nil },
        ["1795802400", "1795802400000", "2026-11-27T18:00:00Z", "2026-11-27T19:00:00+01:00"])
    func old(format: UnreadableFieldTests.Format, hourAgo: String) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = format.mapping
        var bench = NetworkBench(settings)
        let receiver = format.receivers[0]
        func send(_ time: String, at arrival: Double) {
            let written = format.isPlain ? time : "\"\(time)\""
            bench.receive(format.topic(of: receiver), format.message(of: receiver, ["time": written]), at: arrival)
        }
        for second in 0..<3 { send("\(Int(Self.now) + second)", at: 1100 + Double(second)) }
        let heard = bench.heard.count
        for second in 0..<3 { send(hourAgo, at: 1103 + Double(second)) }
        #expect(heard == 3 && bench.heard.count == 3 && bench.notices == [])
        #expect(bench.network.lateAdverts == 3)
    }
}

@Suite("Identities in one text, and lists in lists")
struct CombinedFieldTests {
    @Test(
        "An identity may be one text", arguments: UnreadableFieldTests.formats.filter { $0.fields["uuid"] != nil },
        [
            "UUID-10-7", "UUID_10_7", "UUID/10/7", "UUID:10:7", "UUID,10,7", "iBeacon:UUID-10-7", "PLAIN-10-7",
            "PLAIN:10:7",
        ])
    func identities(format: UnreadableFieldTests.Format, form: String) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = format.mapping
        var bench = NetworkBench(settings)
        let text = form.replacing("UUID", with: NetworkBench.uuid.uppercased())
            .replacing("PLAIN", with: NetworkBench.uuid.filter { $0 != "-" })
        let isHexadecimal = format.name == "Tasmota"
        for changes in [["major": "null", "minor": "null"], [:]] {
            bench.receive(
                format.topic(of: "c8:00:00:00:00:01"),
                format.message(of: "c8:00:00:00:00:01", changes.merging(["uuid": "\"\(text)\""]) { $1 }),
                at: 1001)
        }
        #expect(
            bench.heard.map { $0.dropFirst(20).prefix(4) }
                == Array(repeating: isHexadecimal ? "16/7" : "10/7", count: 2))
        #expect(bench.notices == [])
    }

    @Test(
        "A list in a list is one list",
        arguments: [
            ("[[MINEW]]", nil), ("[[[MINEW]]]", nil), ("[[RADDEC],[RADDEC]]", nil),
            (#"{"data":[["LINE"],["LINE"]]}"#, nil), (#"[["LINE","LINE"]]"#, nil),
            (#"{"msg_id":3070,"device_info":{"mac":"a"},"data":[[MOKO],[MOKO]]}"#, nil),
            (#"{"gw":"a","list":[[ADVERT,ADVERT],[ADVERT]]}"#, "list"), (#"[[ADVERT],[ADVERT]]"#, ""),
            (#"[{"gw":"a","list":[ADVERT]},{"gw":"b","list":[ADVERT,ADVERT]}]"#, "list"),
            (#"[ADVERT,ADVERT]"#, nil),
        ] as [(String, String?)])
    func lists(form: String, each: String?) {
        var settings = ReceiverNetwork.Settings()
        if form.contains("ADVERT") {
            settings.mapping = UnreadableFieldTests.mapping
            settings.mapping?.each = each.flatMap { JSONPath($0) }
        }
        var bench = NetworkBench(settings)
        let fields = #""mac":"c00000000001","rssi":-70"#
        let text = form.replacing(
            "MINEW", with: #"{"type":"Gateway","mac":"a"},{\#(fields),"rawData":"\#(NetworkBench.hexadecimal)"}"#
        ).replacing(
            "RADDEC",
            with:
                #"{"transmitterId":"c00000000001","rssiSignature":[{"receiverId":"a","rssi":-70}],"packets":["46240100000000c0\#(NetworkBench.hexadecimal)"]}"#
        ).replacing("LINE", with: "$GPRP,C00000000001,a,-70,\(NetworkBench.hexadecimal)")
            .replacing("MOKO", with: #"{\#(fields),"adv_data":"\#(NetworkBench.hexadecimal)"}"#)
            .replacing(
                "ADVERT",
                with:
                    #"{\#(form.contains("gw") ? "" : #""gw":"a","#)\#(fields),"u":"\#(NetworkBench.uuid)","a":1,"i":2}"#
            )
        bench.receive("x", text)
        let parts = ["MINEW", "RADDEC", "LINE", "MOKO", "ADVERT"].map { form.ranges(of: $0).count }
        #expect(bench.heard.count == parts.reduce(0, +), "\(bench.notices)")
        #expect(bench.notices == [])
        #expect(bench.network.names == (form.contains("\"b\"") ? ["a", "b"] : ["a"]))
    }

    @Test("Lists that are too deep are a fault, whatever their depth", arguments: [5, 100, 50_000])
    func deep(depth: Int) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = UnreadableFieldTests.mapping
        var bench = NetworkBench(settings)
        let (start, end) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
        bench.receive("x", #"{"gw":"a","list":\#(start)\#(end)}"#)
        #expect(bench.heard == [] && bench.notices.count == 1)
    }

    @Test(
        "A receiver's name may be a number; another value is a fault", arguments: ["{}", "true", "\"\"", "[1]", "LONG"])
    func names(value: String) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = UnreadableFieldTests.mapping
        var bench = NetworkBench(settings)
        func message(_ name: String) -> String {
            #"{"gw":\#(name),"list":[{"rssi":-70,"u":"\#(NetworkBench.uuid)","a":1,"i":2}]}"#
        }
        bench.receive("x", message("17"))
        #expect(bench.network.names == ["17"] && bench.heard.count == 1 && bench.notices == [])
        let long = "\"\(String(repeating: "a", count: 65))\""
        for _ in 0..<3 { bench.receive("y", message(value.replacing("LONG", with: long))) }
        #expect(bench.heard.count == 1 && bench.notices.count == 1, "\(bench.notices)")
        let shown = value == "LONG" ? "aaaa" : value == "\"\"" ? "" : value
        #expect(bench.notices.allSatisfy { $0.contains(shown) })
    }
}
