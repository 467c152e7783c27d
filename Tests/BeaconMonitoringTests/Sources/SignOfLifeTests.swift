import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Testing

@testable import BeaconMonitoring

/// Returns a path from a test's text.
private func path(_ text: String) -> JSONPath {
    guard let path = JSONPath(text) else { preconditionFailure("\(text) is not a path") }
    return path
}

/// Messages of receivers without a beacon nearby: each message of a known receiver proves that it is alive, so that an
/// empty room is exited.
@Suite("Receivers' signs of life")
struct SignOfLifeTests {
    /// A receiver that hears a beacon for some seconds, and then sends other messages.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var topic: String
        var mapping: ReceiverMapping?
        /// The message with the beacon. DBM stands for the signal strength, HEX and BASE64 for the advert.
        var heard: String
        /// The messages without it, each with its topic. NUM stands for a number that is different each time.
        var others: [(topic: String, payload: String)]

        var testDescription: String { name }

        init(
            _ name: String, _ topic: String, _ mapping: ReceiverMapping? = nil, heard: String,
            _ others: [(topic: String, payload: String)]
        ) {
            (self.name, self.topic, self.mapping, self.heard, self.others) = (name, topic, mapping, heard, others)
        }
    }

    private static let hexadecimal = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"
    private static let base64 = "AgEGGv9MAAIV4sVttd/7SNKwYND1pxCW4AABAALF"
    private static let foreign = "02010603039ffe17169ffe0000000000000000000000000000000000000000"

    /// Cases of formats that are the same over a broker and HTTP. Only a broker has topics, which identify the sender
    /// of a message that does not name it.
    private static func either(
        _ name: String, _ mapping: ReceiverMapping? = nil, heard: String, _ payloads: [String], byTopic: [String]
    ) -> [Case] {
        [
            Case("\(name) by MQTT", "any/topic", mapping, heard: heard, (payloads + byTopic).map { ("any/topic", $0) }),
            Case("\(name) by HTTP", "", mapping, heard: heard, payloads.map { ("", $0) }),
        ]
    }

    static let openMQTTGateway = Case(
        "OpenMQTTGateway", "home/hall/BTtoMQTT/C00000000001",
        heard: """
            {"id":"C0:00:00:00:00:01","rssi":DBM,"mfid":"4c00","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":2}
            """,
        [
            ("home/hall/SYStoMQTT", #"{"uptime":NUM}"#), ("home/hall/433toMQTT", #"{"value":NUM}"#),
            ("home/hall/RTL_433toMQTT/Acurite/7", #"{"value":NUM}"#),
            ("home/hall/BTtoMQTT/2", #"{"id":"C0:00:00:00:00:02","rssi":-80,"servicedata":"fe00","count":NUM}"#),
            ("home/hall/BTtoMQTT/2", #"{"tempc":NUM}"#), ("home/hall/BTtoMQTT", "[]"), ("home/hall/BTtoMQTT", ""),
            ("home/hall/BTtoMQTT/1", #"{"rssi":-70,"mfid":"4c00","uuid":"12","major":1,"minor":NUM}"#),
            ("home/hall/BTtoMQTT/1", #"{"rssi":-70,"manufacturerdata":"4c0 NUM"}"#), ("home/hall/BTtoMQTT/1", "{NUM"),
        ])

    static let espresense = Case(
        "ESPresense", "espresense/devices/x/kitchen",
        heard: #"{"id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-2","rssi":DBM,"mac":"c00000000001"}"#,
        [
            ("espresense/rooms/kitchen/telemetry", #"{"uptime":NUM}"#), ("espresense/rooms/kitchen/motion", "NUM"),
            ("espresense/devices/apple:1005:9-12/kitchen", #"{"id":"apple:1005:9-12","rssi":-80,"n":NUM}"#),
            ("espresense/devices/x/kitchen", #"{"id":"NUM"}"#), ("espresense/devices/x/kitchen", "[]"),
            ("espresense/devices/x/kitchen", "{NUM"),
        ])

    private static func shelly(_ data: String) -> String {
        #"{"method":"NotifyEvent","params":{"events":[{"event":"ble.scan_result","data":DATA}],"ts":NUM}}"#
            .replacing("DATA", with: data)
    }

    static let shelly = Case(
        "Shelly", "house/plug/events/rpc", heard: shelly(#"[2,[["c0:00:00:00:00:01",DBM,"BASE64",""]]]"#),
        [
            ("house/plug/events/rpc", #"{"method":"NotifyStatus","params":{"ts":NUM,"switch:0":{"output":true}}}"#),
            ("house/plug/events/rpc", shelly("[2,[]]")), ("house/plug/events/rpc", shelly("[3,[]]")),
            ("house/plug/events/rpc", shelly(#"[2,[["c0:00:00:00:00:02",-70,"AgEG",""]]]"#)),
            ("house/plug/events/rpc", shelly(#"[2,[["x",1]]]"#)), ("house/plug/events/rpc", "{NUM"),
            ("house/plug/status/switch:0", #"{"apower":NUM}"#),
        ])

    static let ruuvi = Case(
        "Ruuvi Gateway by MQTT", "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01",
        heard: #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":DBM,"data":"HEX"}"#,
        [
            ("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:02", #"{"rssi":-26,"temperature":NUM}"#),
            ("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:02", #"{"rssi":-26,"data":"\#(foreign)","n":NUM}"#),
            ("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:02", #"{"rssi":-26,"data":"xyNUM"}"#),
            ("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:02", "{NUM"), ("ruuvi/C8:25:2D:8E:9C:2C/info", #"{"n":NUM}"#),
        ])

    static let tasmota = Case(
        "Tasmota", "tele/sofa/SENSOR",
        heard: """
            {"Time":"2021-04-09T18:11:14","IBEACON":{"UID":"E2C56DB5DFFB48D2B060D0F5A71096E0","MAJOR":"0001",\
            "MINOR":"0002","MAC":"C00000000001","RSSI":DBM,"STATE":"ON"}}
            """,
        [
            ("tele/sofa/STATE", #"{"UptimeSec":NUM}"#), ("tele/sofa/SENSOR", #"{"ENERGY":{"Power":NUM}}"#),
            (
                "tele/sofa/SENSOR",
                """
                {"N":NUM,"IBEACON":{"UID":"E2C56DB5DFFB48D2B060D0F5A71096E0","MAJOR":"0001","MINOR":"0002","RSSI":0,\
                "STATE":"OFF"}}
                """
            ),
            ("tele/sofa/SENSOR", #"{"IBEACON":{"MAC":"C1","NAME":"tag","RSSI":-70,"STATE":"ON","N":NUM}}"#),
            ("tele/sofa/SENSOR", #"{"IBEACON":[NUM]}"#), ("tele/sofa/SENSOR", "{NUM"),
        ])

    static let posted: [Case] =
        either(
            "Ruuvi Gateway",
            heard: #"{"data":{"gw_mac":"C8:25","tags":{"C0:00:00:00:00:01":{"rssi":DBM,"data":"HEX"}}}}"#,
            [
                #"{"data":{"gw_mac":"C8:25","nonce":"NUM","tags":{}}}"#, #"{"data":{"gw_mac":"C8:25","nonce":"NUM"}}"#,
                #"{"data":{"gw_mac":"C8:25","tags":{"C0:00:00:00:00:02":{"rssi":-70,"data":"xyNUM"}}}}"#,
                #"{"data":{"gw_mac":"C8:25","n":NUM,"tags":{"C0:00:00:00:00:02":{"rssi":-7,"data":"\#(foreign)"}}}}"#,
            ], byTopic: ["{NUM", #"{"data":{"nonce":"NUM"}}"#])
        + either(
            "MOKO",
            heard: """
                {"msg_id":3070,"device_info":{"mac":"020000000001"},"data":[{"type":"other","rssi":DBM,"mac":"c00000000001",\
                "adv_data":"HEX"}]}
                """,
            [
                #"{"msg_id":3004,"device_info":{"mac":"020000000001"},"data":{"timestamp":NUM,"wifi_rssi":-54}}"#,
                #"{"msg_id":3003,"device_info":{"mac":"020000000001"},"data":{"uptime":NUM}}"#,
                #"{"msg_id":3070,"device_info":{"mac":"020000000001"},"data":[],"n":NUM}"#,
                #"{"msg_id":3070,"device_info":{"mac":"020000000001"},"data":{"n":NUM}}"#,
                #"{"msg_id":3070,"device_info":{"mac":"020000000001"},"data":[{"type":"eddystone","rssi":-NUM}]}"#,
                #"{"msg_id":3070,"device_info":{"mac":"020000000001"},"data":[{"mac":"c00000000002","n":NUM}]}"#,
            ], byTopic: [#"{"msg_id":3070,"data":[],"n":NUM}"#, "{NUM"])
        + either(
            "Minew",
            heard: """
                [{"type":"Gateway","mac":"020000000002"},{"type":"Unknown","mac":"C00000000001","rssi":DBM,"rawData":"HEX"}]
                """,
            [
                #"[{"type":"Gateway","mac":"020000000002","gatewayFree":NUM}]"#,
                #"[{"type":"Gateway","mac":"020000000002","n":NUM},{"type":"S1","mac":"C0","rssi":-60}]"#,
                #"[{"type":"Gateway","mac":"020000000002","n":NUM},{"mac":"C0"}]"#,
                #"[{"type":"Gateway","mac":"020000000002"},{"mac":"C0","rssi":-60,"rawData":"zzNUM"}]"#,
            ], byTopic: ["[]", "[{NUM", #"[{"mac":"C0","rssi":NUM}]"#])
        + either(
            "Ingics", heard: "$GPRP,C00000000001,020000000003,DBM,HEX",
            [
                "$HBRP,020000000003,020000000003,-127,00000000,NUM",
                "$GPSR,020000000003,020000000003,-127,200101,NUM,1,2,3,4", "$1ABC,C00000000002,020000000003,-60,NUM",
                "$GPRP,C00000000002,020000000003,-60,\(foreign),170000000NUM", "$GPRP,C1,020000000003,-60,NUM",
                "$LRAD,C00000000002,020000000003,-60,zzNUM",
                #"{"data":["$HBRP,020000000003,020000000003,-127,00000000,NUM"]}"#,
            ], byTopic: ["$NUM", #"{"data":[NUM]}"#])
        + either(
            "raddec",
            heard: """
                {"transmitterId":"c00000000001","rssiSignature":[{"receiverId":"a","rssi":DBM}],\
                "packets":["46240100000000c0HEX"]}
                """,
            [
                #"{"transmitterId":"c1","rssiSignature":[{"receiverId":"a","rssi":-70}],"n":NUM}"#,
                #"{"transmitterId":"c1","rssiSignature":[{"receiverId":"a","rssi":-70}],"packets":["NUM"]}"#,
                #"[{"transmitterId":"c1","rssiSignature":[{"receiverId":"a"}],"n":NUM}]"#,
            ], byTopic: ["[]", #"{"rssiSignature":{},"n":NUM}"#, "{NUM"])

    private static let decoded = ReceiverMapping(
        receiver: .fixed("here"), each: JSONPath("list"), rssi: path("r"), uuid: path("u"),
        major: path("a"), minor: path("i"))

    static let mapped: [Case] =
        either(
            "a mapping with a fixed name", decoded,
            heard: #"{"list":[{"r":DBM,"u":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","a":"0001","i":"0x2"}]}"#,
            [
                #"{"list":[],"n":NUM}"#, #"{"n":NUM}"#, #"{"list":[{"r":NUM}]}"#, #"{"list":[{"u":NUM}]}"#, "{NUM",
                "NUM",
            ], byTopic: [])
        + [
            Case(
                "a mapping with the name in the topic", "acme/hall/scan",
                ReceiverMapping(receiver: .level(2), rssi: path("r"), data: path("d")),
                heard: #"{"r":DBM,"d":"HEX"}"#,
                [
                    #"{"r":-70,"d":"\#(foreign)","n":NUM}"#, #"{"r":-70,"d":"zzNUM"}"#, #"{"r":-70,"d":"0102NUM"}"#,
                    #"{"d":NUM}"#, "{NUM", "NUM",
                ].map { ("acme/hall/scan", $0) }),
            Case(
                "a mapping with the name in the message", "x",
                ReceiverMapping(
                    receiver: .path(path("gw")), each: JSONPath("l"), rssi: path("r"), data: path("d")),
                heard: #"{"gw":"hall","l":[{"r":DBM,"d":"HEX"}]}"#,
                [
                    #"{"gw":"hall","l":[],"n":NUM}"#, #"{"gw":"hall","n":NUM}"#, #"{"gw":"hall","l":[{"n":NUM}]}"#,
                    #"{"l":[NUM]}"#, "{NUM",
                ].map { ("x", $0) }),
        ]

    static let cases = [openMQTTGateway, espresense, shelly, ruuvi, tasmota] + posted + mapped

    /// Returns the exit of a region whose beacon a receiver heard for five seconds, in seconds after the last advert;
    /// nil without an exit within five minutes.
    ///
    /// - Parameter seconds: the time between two messages without the beacon.
    private static func exit(
        _ one: Case, then topic: String, _ payload: String?, each seconds: Int = 5, isRetained: Bool = false
    ) -> Double? {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = one.mapping
        var network = ReceiverNetwork(settings)
        var core = MonitoringCore()
        let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
        var region = MonitoredRegion(BeaconConstraint(BeaconIdentity(uuid: uuid, major: 1, minor: 2)))
        region.exitTimeout = .seconds(30)
        _ = core.startMonitoring(region)
        func time(_ quarters: Int) -> Timestamp {
            Timestamp(nanoseconds: 1_000_000_000_000 + Int64(quarters) * 250_000_000)
        }
        var batch = AdvertBatch()
        network.connect(at: time(0))
        var (entries, exit): (Int, Double?) = (0, nil)
        let last = 20
        for quarter in 1...last + 1200 where exit == nil {
            let now = time(quarter)
            batch.begin()
            func receive(_ topic: String, _ text: String, isRetained: Bool = false) {
                let text = text.replacing("NUM", with: "\(quarter)").replacing("DBM", with: "-\(40 + quarter % 30)")
                    .replacing("HEX", with: hexadecimal).replacing("BASE64", with: base64)
                network.receive(
                    topic: topic.utf8.span.bytes, payload: text.utf8.span.bytes, isRetained: isRetained, at: now,
                    into: &batch)
            }
            if quarter <= last, quarter % 4 == 0 { receive(one.topic, one.heard) }
            if quarter > last, (quarter - last) % (4 * seconds) == 0, let payload {
                receive(topic, payload, isRetained: isRetained)
            }
            network.advance(to: now, into: &batch)
            for (place, name) in network.names.enumerated() { core.name(ReceiverID(UInt16(place)), name) }
            for case .deaf(let from, let to, let receiver?) in batch.drainEvents() {
                core.skip(from: from, to: to, of: receiver)
            }
            for sighting in batch.sightings { core.receive(sighting) }
            for (place, status) in network.statuses.enumerated() {
                core.setHearing(status.hearing, of: ReceiverID(UInt16(place)), at: now)
            }
            core.advance(upTo: now)
            for case .state(let change) in core.drainEvents() {
                if change.kind == .enter { entries += 1 }
                if change.kind == .exit { exit = change.time.seconds - time(last).seconds }
            }
        }
        #expect(entries == 1, "\(one.name): the beacon was not heard")
        return exit
    }

    @Test("An empty room is exited after its time-out, whatever a known receiver sends", arguments: cases)
    func empty(one: Case) {
        for (topic, payload) in one.others {
            #expect(Self.exit(one, then: topic, payload) == 30, "\(topic) \(payload)")
        }
    }

    @Test(
        "An empty room is exited once the interval of a rare heartbeat is known", arguments: cases, [30, 60])
    func seldom(one: Case, seconds: Int) throws {
        for (topic, payload) in one.others {
            let exit = try #require(Self.exit(one, then: topic, payload, each: seconds), "\(topic) \(payload)")
            #expect(exit >= 30 && exit <= Double(3 * seconds), "\(topic) \(payload): \(exit)")
        }
    }

    @Test(
        "A receiver that stops sending causes no exit, and neither does its retained message", arguments: cases)
    func silent(one: Case) {
        #expect(Self.exit(one, then: "", nil) == nil)
        for (topic, payload) in one.others where !topic.isEmpty {
            #expect(Self.exit(one, then: topic, payload, isRetained: true) == nil, "\(topic) \(payload)")
        }
    }

    @Test("An unreadable message at a topic of two receivers proves nothing about either")
    func shared() {
        var network = ReceiverNetwork()
        var batch = AdvertBatch()
        let start = Timestamp(nanoseconds: 1_000_000_000_000)
        network.connect(at: start)
        func receive(_ text: String, after seconds: Int) {
            network.receive(
                topic: "x".utf8.span.bytes, payload: text.utf8.span.bytes,
                at: start.advanced(by: Int64(seconds) * Timestamp.nanosecondsPerSecond), into: &batch)
        }
        receive("$HBRP,A,A", after: 1)
        receive("$HBRP,B,B", after: 2)
        for second in 3...40 { receive("{\(second)", after: second) }
        network.advance(to: start.advanced(by: 41 * Timestamp.nanosecondsPerSecond), into: &batch)
        #expect(network.receivers.map(\.isHearing) == [false, false])
    }
}
