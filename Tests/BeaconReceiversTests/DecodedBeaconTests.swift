import BeaconModel
import Testing

@testable import BeaconReceivers

/// Returns the parsed path of a test.
private func path(_ text: String) -> JSONPath {
    guard let path = JSONPath(text) else { preconditionFailure("\(text) is not a path") }
    return path
}

@Suite("Decoded iBeacons")
struct DecodedBeaconTests {
    /// A message of a gateway. PART stands for its fields of the beacon.
    struct Form: Sendable, CustomTestStringConvertible {
        var name: String
        var topic = "x"
        var mapping: ReceiverMapping?
        var message: String
        var raw: String
        /// The fields. POWER stands for the field of the measured power.
        var fields: String
        var power: String

        var testDescription: String { name }

        func fields(power: String? = "-59") -> String {
            fields.replacing("POWER", with: power.map { self.power.replacing("#", with: $0) } ?? "")
        }
    }

    private static var mapping: ReceiverMapping {
        var mapping = ReceiverMapping(
            receiver: .fixed("here"), address: JSONPath("mac"), rssi: path("rssi"), uuid: path("id.u"),
            major: path("id.a"), minor: path("id.i"), power: JSONPath("id.p"))
        mapping.data = JSONPath("raw")
        return mapping
    }

    private static let uuid = "E2C56DB5DFFB48D2B060D0F5A71096E0"

    static let forms = [
        Form(
            name: "OpenMQTTGateway", topic: "home/hall/BTtoMQTT/1",
            message: #"{"id":"C0:00:00:00:00:01","rssi":-70,"mfid":"4c00",PART}"#,
            raw: "\"manufacturerdata\":\"\(NetworkBench.hexadecimal.dropFirst(10))\"",
            fields: #""uuid":"\#(uuid.lowercased())","major":1,"minor":2POWER"#, power: #","txpower":#"#),
        Form(
            name: "Ruuvi Gateway", topic: "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01",
            message: #"{"rssi":-70,PART}"#, raw: "\"data\":\"\(NetworkBench.hexadecimal)\"",
            fields: #""uuid":"\#(uuid)","major":1,"minor":2POWER"#, power: #","measuredPower":#"#),
        Form(
            name: "MOKO",
            message:
                #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"type":"ibeacon","rssi":-70,"mac":"c00000000001",PART}]}"#,
            raw: "\"adv_data\":\"\(NetworkBench.hexadecimal)\"",
            fields: #""uuid":"\#(uuid.lowercased())","major":1,"minor":2POWER"#, power: #","rssi_1m":#"#),
        Form(
            name: "Minew", message: #"[{"type":"Gateway","mac":"a"},{"mac":"C00000000001","rssi":-70,PART}]"#,
            raw: "\"rawData\":\"\(NetworkBench.hexadecimal)\"",
            fields: #""ibeaconUuid":"\#(uuid)","ibeaconMajor":1,"ibeaconMinor":2POWER"#,
            power: #","ibeaconTxPower":#"#),
        Form(
            name: "raddec",
            message:
                #"{"transmitterId":"c00000000001","rssiSignature":[{"receiverId":"a","rssi":-70}],PART}"#,
            raw: "\"packets\":[\"46240100000000c0\(NetworkBench.hexadecimal)\"]",
            fields: #""uuid":"\#(uuid)","major":1,"minor":2POWER"#, power: #","txPower":#"#),
        Form(
            name: "a mapping", mapping: mapping, message: #"{"rssi":-70,"mac":"c00000000001",PART}"#,
            raw: "\"raw\":\"\(NetworkBench.hexadecimal)\"",
            fields: #""id":{"u":"\#(NetworkBench.uuid)","a":1,"i":"0002"POWER}"#, power: #","p":#"#),
    ]

    private static func bench(_ form: Form, _ parts: String...) -> NetworkBench {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = form.mapping
        var bench = NetworkBench(settings)
        for (number, part) in parts.enumerated() {
            bench.receive(form.topic, form.message.replacing("PART", with: part), at: 1001 + Double(number))
        }
        return bench
    }

    @Test("A beacon gives the same sightings as bytes, as fields and as both", arguments: forms)
    func same(form: Form) {
        let bench = Self.bench(form, form.raw, form.fields(), "\(form.raw),\(form.fields())")
        #expect(bench.heard == Array(repeating: "0 c0:00:00:00:00:01 1/2 -59 -70", count: 3))
        #expect(bench.notices == [] && bench.network.faults.isEmpty)
    }

    @Test("A missing power is not made up, and does not contradict the bytes", arguments: forms)
    func powerless(form: Form) {
        let bench = Self.bench(form, form.fields(power: nil), "\(form.raw),\(form.fields(power: nil))")
        #expect(bench.heard == ["0 c0:00:00:00:00:01 1/2 127 -70", "0 c0:00:00:00:00:01 1/2 -59 -70"])
        #expect(bench.notices == [])
    }

    @Test("ESPresense and Tasmota send no power, and it is not made up")
    func other() {
        var bench = NetworkBench()
        bench.receive(
            "espresense/devices/x/kitchen",
            #"{"id":"iBeacon:\#(NetworkBench.uuid)-1-2","rssi":-70,"mac":"c00000000001"}"#)
        bench.receive(
            "tele/sofa/SENSOR",
            #"{"IBEACON":{"MAC":"C00000000001","UID":"\#(Self.uuid)","MAJOR":"0001","MINOR":"FFFF","RSSI":-62,"STATE":"ON"}}"#
        )
        #expect(bench.heard == ["0 c0:00:00:00:00:01 1/2 127 -70", "1 c0:00:00:00:00:01 1/65535 127 -62"])
        #expect(bench.network.names == ["kitchen", "sofa"])
        // A beacon that Tasmota no longer hears.
        bench.receive(
            "tele/sofa/SENSOR",
            #"{"IBEACON":{"MAC":"C00000000001","UID":"\#(Self.uuid)","MAJOR":"0001","MINOR":"FFFF","RSSI":0,"STATE":"OFF"}}"#,
            at: 1002)
        #expect(bench.heard.count == 2 && bench.notices == [])
    }

    @Test("Fields that contradict the bytes are counted, and the bytes are used", arguments: forms)
    func contradiction(form: Form) {
        let other = form.fields().replacing("1,", with: "7,")
        let bench = Self.bench(form, "\(form.raw),\(other)", "\(form.raw),\(form.fields(power: "-40"))")
        #expect(bench.heard == Array(repeating: "0 c0:00:00:00:00:01 1/2 -59 -70", count: 2))
        #expect(bench.network.faults.values.reduce(0, +) == 2)
        #expect(bench.notices.count == 1 && bench.notices[0].contains("the raw data are used"), "\(bench.notices)")
    }

    @Test("Fields that name an iBeacon are used if the bytes belong to something else", arguments: forms)
    func foreignBytes(form: Form) {
        // Flags and a name, as long as the iBeacon's advert, or as its manufacturer data.
        let isData = form.name == "OpenMQTTGateway"
        let real = isData ? String(NetworkBench.hexadecimal.dropFirst(10)) : NetworkBench.hexadecimal
        let other = (isData ? "5900" : "0201061a09") + String(repeating: "41", count: real.count / 2 - (isData ? 2 : 5))
        let bench = Self.bench(form, "\(form.raw.replacing(real, with: other)),\(form.fields())")
        let heard = "0 c0:00:00:00:00:01 1/2 -59 -70"
        #expect(bench.heard.filter { $0 == heard }.count == 1)
        #expect(bench.notices.count == 1 && bench.notices[0].contains("the fields are used"), "\(bench.notices)")
    }

    @Test("A scan response beside an iBeacon's packet is not a contradiction")
    func scanResponse() throws {
        let form = try #require(Self.forms.first { $0.name == "raddec" })
        let answer = "\"46240100000000c002010605094142434401\","
        let bench = Self.bench(form, "\(form.raw.replacing("[", with: "[\(answer)")),\(form.fields())")
        #expect(bench.heard.filter { $0.contains("1/2 -59") }.count == 1 && bench.notices == [])
    }

    @Test(
        "A measured power takes precedence over a possible transmit power, in either order", arguments: forms,
        ["rssi_1m", "rssi@1m", "measuredPower", "measured_power", "ibeaconTxPower"])
    func transmitPower(form: Form, name: String) {
        guard form.mapping == nil else { return }
        for other in ["tx_power", "txPower"] {
            let parts = ["\"\(name)\":-59", "\"\(other)\":-12"]
            for powers in [parts, parts.reversed()] {
                let bench = Self.bench(form, "\(form.fields(power: nil)),\(powers.joined(separator: ","))")
                #expect(bench.heard == ["0 c0:00:00:00:00:01 1/2 -59 -70"], "\(powers)")
            }
        }
    }

    @Test(
        "Numbers are decimal unless they are marked as hexadecimal",
        arguments: [
            ("1", "1"), ("65535", "65535"), ("\"1\"", "1"), ("\"0001\"", "1"), ("\"999\"", "999"),
            ("\"1000\"", "1000"), ("\"00FF\"", nil), ("\"0x12345\"", nil),
            ("\"0x1000\"", "4096"), ("\"0x1\"", "1"), ("\"10000\"", "10000"), ("\"-1\"", nil), ("70000", nil),
            ("1.0", "1"),
            ("\"\"", nil), ("\"0x\"", nil), ("\"zz\"", nil), ("null", nil),
        ])
    func numbers(text: String, major: String?) {
        let form = Self.forms[0]
        let bench = Self.bench(form, form.fields().replacing("\"major\":1", with: "\"major\":\(text)"))
        #expect(bench.heard == (major.map { ["0 c0:00:00:00:00:01 \($0)/2 -59 -70"] } ?? []))
        #expect(bench.notices.isEmpty == (major != nil))
    }

    @Test(
        "A number is hexadecimal if the mapping specifies it",
        arguments: [
            ("\"0001\"", "1"), ("\"1000\"", "4096"), ("\"00FF\"", "255"), ("\"ff\"", "255"), ("\"0xFF\"", "255"),
            ("1000", "1000"), ("\"10000\"", nil), ("\"-1\"", nil),
        ])
    func hexadecimal(text: String, major: String?) {
        var form = Self.forms[Self.forms.count - 1]
        form.mapping?.numbers = .hexadecimal
        let bench = Self.bench(
            form, form.fields(power: "\"C5\"").replacing("\"a\":1", with: "\"a\":\(text)"))
        #expect(bench.heard == (major.map { ["0 c0:00:00:00:00:01 \($0)/2 -59 -70"] } ?? []))
        #expect(bench.notices.isEmpty == (major != nil))
    }

    @Test("A beacon whose signal strength is null counts as heard, without a reading", arguments: forms)
    func null(form: Form) {
        var form = form
        form.message = form.message.replacing("\"rssi\":-70", with: "\"rssi\":null")
        let bench = Self.bench(form, form.raw, form.fields())
        #expect(bench.heard == Array(repeating: "0 c0:00:00:00:00:01 1/2 -59 -", count: 2))
        #expect(bench.notices == [])
    }

    @Test(
        "A power is a decimal number or a byte",
        arguments: [
            ("-59", -59), ("197", -59), ("\"-59\"", -59), ("\"C5\"", 127), ("\"0xc5\"", -59), ("\"-5\"", -5), ("0", 0),
            ("300", 127), ("\"weak\"", 127), ("null", 127), ("{}", 127),
        ])
    func powers(text: String, power: Int) {
        let form = Self.forms[0]
        let bench = Self.bench(form, form.fields(power: text))
        #expect(bench.heard == ["0 c0:00:00:00:00:01 1/2 \(power) -70"])
    }

    @Test(
        "Hexadecimal digits are parsed in all common notations",
        arguments: [
            { $0 }, { $0.uppercased() }, { pairs($0).joined(separator: " ") }, { pairs($0).joined(separator: ":") },
            { pairs($0).joined(separator: "-") }, { "0x" + $0 }, { "0X" + $0.uppercased() },
            { pairs($0).map { "0x" + $0 }.joined(separator: ", ") },
        ] as [@Sendable (String) -> String])
    func spellings(spelling: @Sendable (String) -> String) {
        for form in Self.forms {
            let digits = form.raw.split(separator: "\"").map(String.init).max { $0.count < $1.count } ?? ""
            let bench = Self.bench(form, form.raw.replacing(digits, with: spelling(digits)))
            #expect(bench.heard == ["0 c0:00:00:00:00:01 1/2 -59 -70"], "\(form.name)")
        }
        var bench = NetworkBench()
        if !spelling("00").contains(","), !spelling("0000").contains(",") {
            bench.receive("x", "$GPRP,C00000000001,a,-70,\(spelling(NetworkBench.hexadecimal))")
            #expect(bench.heard.count == 1)
        }
    }

    private static func pairs(_ text: String) -> [String] {
        stride(from: 0, to: text.count, by: 2).map { String(text.dropFirst($0).prefix(2)) }
    }

    @Test(
        "Bytes that are not an iBeacon's are counted, and reported once for each receiver, with an excerpt",
        arguments: [
            ("020106030318aa", "not an iBeacon's"), ("1aff4c000215", "not an advert"), ("c0ffee", "not an advert"),
            ("hello", "not hexadecimal"), ("e2c", "not hexadecimal"), ("\u{202E}", "not hexadecimal"),
        ])
    func foreign(data: String, problem: String) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = ReceiverMapping(receiver: .level(1), rssi: path("r"), data: path("d"))
        var bench = NetworkBench(settings)
        for number in 0..<30 { bench.receive("gw\(number % 3)/x", #"{"r":-\#(number + 40),"d":"\#(data)"}"#) }
        #expect(bench.heard == [] && bench.notices.count == 3)
        #expect(bench.network.faults.values.reduce(0, +) == 30)
        let isReadable = !data.contains("\u{202E}")
        for (number, notice) in bench.notices.enumerated() {
            #expect(notice.contains(problem) && notice.contains("gw\(number)"), "\(notice)")
            #expect(notice.contains(isReadable ? "\"\(data)\"" : "u{202e}"), "\(notice)")
        }
    }

    @Test("Adverts of other devices are not reported once there is an iBeacon, and manufacturer data alone is accepted")
    func beside() {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = ReceiverMapping(receiver: .level(1), rssi: path("r"), data: path("d"))
        var bench = NetworkBench(settings)
        for data in [NetworkBench.hexadecimal, "020106030318aa", String(NetworkBench.hexadecimal.dropFirst(10))] {
            bench.receive("gw/x", #"{"r":-70,"d":"\#(data)"}"#)
        }
        #expect(bench.heard.count == 2 && bench.notices == [])
    }
}

@Suite("Lines of Ingics gateways")
struct IngicsTests {
    private static let line = "$KIND,C00000000001,CCB97E7361A4,-70,\(NetworkBench.hexadecimal)"

    @Test("All kinds of adverts and responses are read", arguments: ["GPRP", "1MAD", "LRAD", "RSPR", "1MSR", "LRSR"])
    func kinds(kind: String) {
        var bench = NetworkBench()
        bench.receive("x", Self.line.replacing("KIND", with: kind))
        bench.receive("x", Self.line.replacing("KIND", with: kind) + ",*1001", at: 1002)
        #expect(bench.heard == Array(repeating: "0 c0:00:00:00:00:01 1/2 -59 -70", count: 2) && bench.notices == [])
    }

    @Test(
        "Lines are also read in JSON, one or several in a string",
        arguments: [
            #"{"data":["LINE","LINE","LINE"]}"#, #"["LINE","LINE","LINE"]"#, #"{"message":"LINE\r\nLINE\nLINE\r\n"}"#,
            #"{"a":1,"b":{"c":2},"x":"LINE","y":"LINE","z":"LINE"}"#, #"{"n":[1,2],"data":["LINE\nLINE","LINE"]}"#,
        ])
    func wrapped(text: String) {
        var bench = NetworkBench()
        bench.receive("x", text.replacing("LINE", with: Self.line.replacing("KIND", with: "GPRP")))
        #expect(bench.heard == Array(repeating: "0 c0:00:00:00:00:01 1/2 -59 -70", count: 3) && bench.notices == [])
        #expect(bench.network.names == ["CCB97E7361A4"])
    }

    @Test("A gateway's location is a sign of life and not an advert")
    func position() {
        var bench = NetworkBench()
        bench.receive("x", "$GPSR,CCB97E7361A4,CCB97E7361A4,-127,200101,120000.00,25.0,121.5,0,1.2")
        #expect(bench.heard == [] && bench.notices == [] && bench.network.names == ["CCB97E7361A4"])
    }
}
