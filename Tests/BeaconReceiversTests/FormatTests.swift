import BeaconModel
import Testing

@testable import BeaconReceivers

@Suite("Message formats of other projects")
struct FormatTests {
    private static let advert = "0 c0:00:00:00:00:01 1/2 -59 -70"

    /// An object of OpenMQTTGateway, as in its documentation.
    static func openMQTTGateway(id: String = "C0:00:00:00:00:01", rssi: Int = -70, more: String = "") -> String {
        """
        {"id":"\(id)","mac_type":1,"rssi":\(rssi),"distance":7.85288,"brand":"GENERIC","model":"iBeacon",\
        "model_id":"IBEACON","mfid":"4c00","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":2,"txpower":-59\(more)}
        """
    }

    @Test(
        "An iBeacon in a message of each kind is a sighting by its receiver",
        arguments: [
            // The topic ends with the address or the UUID.
            ("home/hall/BTtoMQTT/C00000000001", openMQTTGateway(), "hall"),
            ("home/hall/BTtoMQTT/e2c56db5dffb48d2b060d0f5a71096e0", openMQTTGateway(), "hall"),
            ("a/b/hall/BTtoMQTT", openMQTTGateway(), "hall"),
            // presenceUseBeaconUuid
            (
                "home/hall/BTtoMQTT/x",
                openMQTTGateway(id: "e2c56db5dffb48d2b060d0f5a71096e0", more: ",\"mac\":\"C0:00:00:00:00:01\""), "hall"
            ),
            // Not decoded
            (
                "home/hall/BTtoMQTT/C00000000001",
                "{\"id\":\"C0:00:00:00:00:01\",\"rssi\":-70,\"manufacturerdata\":\"\(NetworkBench.hexadecimal.dropFirst(10))\"}",
                "hall"
            ),
            (
                "espresense/devices/iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-2/kitchen",
                """
                {"mac":"c00000000001","id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-2","rssi@1m":-59,"rssi":-69.6,\
                "rxAdj":0,"rssiVar":1.2,"distance":1.9,"var":0.1,"int":1000}
                """, "kitchen"
            ),
            (
                "shellyplus1-a8032ab12345/events/rpc",
                """
                {"src":"shellyplus1-a8032ab12345","dst":"x/events","method":"NotifyEvent","params":{"ts":1631266595.44,\
                "events":[{"component":"script:1","id":1,"event":"other","data":[1,2]},{"component":"script:1","id":1,\
                "event":"ble.scan_result","data":[2,[["c0:00:00:00:00:01",-70,"\(NetworkBench.base64)",""]]],"ts":1.0}]}}
                """, "shellyplus1-a8032ab12345"
            ),
            (
                "house/plug/events/rpc",
                """
                {"method":"NotifyEvent","params":{"events":[{"event":"ble.scan_result",\
                "data":[1,"c0:00:00:00:00:01",-70,"\(NetworkBench.base64)",""]}]}}
                """, "house/plug"
            ),
            (
                "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01",
                """
                {"gw_mac":"C8:25:2D:8E:9C:2C","rssi":-70,"aoa":[],"gwts":"1653668027","ts":"1653668027",\
                "data":"\(NetworkBench.hexadecimal.uppercased())","coords":""}
                """, "C8:25:2D:8E:9C:2C"
            ),
            (
                "any/topic",
                """
                {"msg_id":3070,"device_info":{"mac":"aabbccddeeff"},"data":[{"mac":"c00000000001","timestamp":1653668027000,\
                "rssi":-70,"adv_data":"\(NetworkBench.hexadecimal)","rsp_data":""}]}
                """, "aabbccddeeff"
            ),
            (
                "any/topic",
                """
                {"msg_id":3004,"device_info":{"mac":"aabbccddeeff"},"data":[{"type":1,"value":{"mac":"c00000000001",\
                "timestamp":"2024-01-01T00:00:00","rssi":-70,"raw data":"\(NetworkBench.hexadecimal)"}}]}
                """, "aabbccddeeff"
            ),
            (
                "any",
                """
                [{"timestamp":"2024-01-01T00:00:00Z","type":"Gateway","mac":"AC233FC00001"},{"mac":"C00000000001","rssi":-70,\
                "rawData":"\(NetworkBench.hexadecimal)"}]
                """, "AC233FC00001"
            ),
            (
                "any",
                """
                [{"type":"Gateway","mac":"AC233FC00001"},{"type":"iBeacon","mac":"C00000000001","rssi":-70,\
                "ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","ibeaconMajor":1,"ibeaconMinor":2,"ibeaconTxPower":-59}]
                """, "AC233FC00001"
            ),
            ("any", "$GPRP,C00000000001,CCB97E7361A4,-70,\(NetworkBench.hexadecimal.uppercased())", "CCB97E7361A4"),
            (
                "any",
                """
                {"data":{"coordinates":"","timestamp":"1653633988","nonce":"2636366621","gw_mac":"C8:25:2D:8E:9C:2C",\
                "tags":{"C0:00:00:00:00:01":{"rssi":-70,"timestamp":"1653633986","data":"\(NetworkBench.hexadecimal)"}}}}
                """, "C8:25:2D:8E:9C:2C"
            ),
            ("any", raddec(), "001bc50940810000"), ("any", "[\(raddec())]", "001bc50940810000"),
            (
                "any",
                "$HBRP,CCB97E7361A4\r\n$GPRP,C00000000001,CCB97E7361A4,-70,\(NetworkBench.hexadecimal),1653668027\r\n",
                "CCB97E7361A4"
            ),
        ])
    func heard(topic: String, payload: String, receiver: String) {
        var bench = NetworkBench()
        bench.receive(topic, payload)
        #expect(bench.heard == [Self.advert])
        #expect(bench.network.names == [receiver])
        #expect(bench.notices == [])
    }

    private static func raddec(_ receivers: [(String, Int)] = [("001bc50940810000", -70)]) -> String {
        let signature = receivers.map {
            #"{"receiverId":"\#($0.0)","receiverIdType":1,"rssi":\#($0.1),"numberOfDecodings":3}"#
        }
        return """
            {"transmitterId":"c00000000001","transmitterIdType":3,"rssiSignature":[\(signature.joined(separator: ","))],\
            "packets":["46240100000000c0\(NetworkBench.hexadecimal)"],"timestamp":1001000}
            """
    }

    @Test("A raddec gives a sighting by each of its receivers, with its kind of address")
    func raddecs() {
        var bench = NetworkBench()
        bench.receive("", "[\(Self.raddec([("a", -70), ("b", -80)])),\(Self.raddec([("b", -81)]))]")
        #expect(
            bench.heard == [
                "0 c0:00:00:00:00:01 1/2 -59 -70", "1 c0:00:00:00:00:01 1/2 -59 -80", "1 c0:00:00:00:00:01 1/2 -59 -81",
            ])
        #expect(bench.network.names == ["a", "b"] && bench.network.receivers.allSatisfy { $0.kind == .raddec })
        #expect(bench.notices.isEmpty)
        // Without packets it is only a sign of the receiver's life.
        for packets in ["", #","packets":[]"#] {
            bench.receive(
                "", #"{"transmitterId":"c00000000001","rssiSignature":[{"receiverId":"c","rssi":-1}]\#(packets)}"#)
        }
        #expect(bench.heard.count == 3 && bench.network.names == ["a", "b", "c"])
        #expect(bench.notices.count == 1 && bench.notices[0].contains(#"no "packets""#), "\(bench.notices)")
        #expect(bench.network.faults.values.reduce(0, +) == 2)
    }

    @Test("A short raddec that claims a million adverts is limited")
    func hostileRaddec() {
        let receivers = (0..<3_000).map { _ in ("a", -70) }
        let packets = Array(repeating: "\"46240100000000c0\(NetworkBench.hexadecimal)\"", count: 400)
        let text = Self.raddec(receivers).replacing(
            "[\"46240100000000c0\(NetworkBench.hexadecimal)\"]", with: "[\(packets.joined(separator: ","))]")
        var bench = NetworkBench()
        bench.receive("", text)
        #expect(bench.heard.count == 32 * 16)
    }

    @Test("A Ruuvi Gateway's adverts get the time at which it heard them, and late ones are skipped")
    func ruuviTimes() {
        var bench = NetworkBench()
        let tags = [0, 9, 15, 16, 600].enumerated().map {
            #""C0:00:00:00:00:0\#($0.offset)":{"rssi":-7\#($0.offset),"timestamp":"\#(1_653_633_988 - $0.element)","data":"\#(NetworkBench.hexadecimal)"}"#
        }
        bench.receive(
            "", #"{"data":{"timestamp":"1653633988","gw_mac":"a","tags":{\#(tags.joined(separator: ","))}}}"#, at: 1100)
        #expect(bench.times == [1100, 1091, 1085] && bench.network.lateAdverts == 2)
    }

    @Test("A MOKO gateway's network status is a sign of life; reports of other kinds are ignored")
    func mokoStatus() {
        var bench = NetworkBench()
        bench.receive("", #"{"msg_id":3003,"device_info":{"mac":"a"},"data":{"net_state":"online"}}"#)
        let report = #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"type":"eddystone-uid","rssi":-70}]}"#
        bench.receive("", report)
        #expect(bench.notices.isEmpty && bench.network.receivers.map(\.kind) == [.moko])
    }

    @Test("Each advert in a message is a sighting")
    func several() {
        var bench = NetworkBench()
        let adverts = (1...16).map { "[\"c0:00:00:00:00:\($0 + 10)\",-\($0 + 40),\"\(NetworkBench.base64)\",\"AgoM\"]" }
        bench.receive(
            "shelly/events/rpc",
            """
            {"params":{"events":[{"event":"ble.scan_result","data":[2,[\(adverts.joined(separator: ", "))]]}]}}
            """)
        #expect(bench.heard.count == 16)
        #expect(bench.heard.last == "0 c0:00:00:00:00:26 1/2 -59 -56")
    }

    @Test(
        "A mapping finds its fields at any path",
        arguments: [
            (
                ReceiverMapping.Name.level(2), nil, "acme/hall/scan", #"{"addr":"c00000000001","s":-70,"d":"HEX"}"#,
                "hall"
            ),
            (.fixed("here"), nil, "x", #"{"addr":"c0-00-00-00-00-01","s":"-70","d":"HEX"}"#, "here"),
            (
                .path(JSONPath("gw.0.name")!), JSONPath("list")!, "x",
                #"{"gw":[{"name":"r\u00f6\"m"}],"list":[{"addr":"c00000000001","s":-70.2,"d":"HEX"}]}"#, "r\u{f6}\"m"
            ),
            (
                .path(JSONPath("$.of")!), JSONPath("")!, "x", #"[{"of":"a","addr":"c00000000001","s":-70,"d":"HEX"}]"#,
                "a"
            ),
        ])
    func mapped(receiver: ReceiverMapping.Name, each: JSONPath?, topic: String, payload: String, name: String) {
        var settings = ReceiverNetwork.Settings()
        settings.mapping = ReceiverMapping(
            receiver: receiver, each: each, address: JSONPath("addr"), rssi: JSONPath("s")!, data: JSONPath("d")!)
        var bench = NetworkBench(settings)
        bench.receive(topic, payload.replacing("HEX", with: NetworkBench.hexadecimal))
        #expect(bench.heard == [Self.advert])
        #expect(bench.network.names == [name])
    }

    @Test("Adverts of other devices are signs of life and not faults")
    func others() {
        var bench = NetworkBench()
        bench.receive("home/hall/BTtoMQTT/1", #"{"id":"C0:00:00:00:00:01","rssi":-70,"servicedata":"fe00","tempc":21}"#)
        bench.receive("home/hall/BTtoMQTT/2", #"{"tempc":21}"#)
        bench.receive("espresense/devices/apple:1005:9-12/kitchen", #"{"id":"apple:1005:9-12","rssi":-80}"#)
        bench.receive("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01", #"{"rssi":-26,"data":"0201061BFF99040515AE4C"}"#)
        bench.receive("shelly/events/rpc", #"{"method":"NotifyStatus","params":{"switch:0":{"output":true}}}"#)
        #expect(bench.heard == [])
        #expect(bench.notices == [])
        #expect(bench.network.names == ["hall", "kitchen", "C8:25:2D:8E:9C:2C"])
    }

    @Test(
        "Unreadable messages are counted by fault, and each fault is reported once",
        arguments: [
            ("home/hall/BTtoMQTT/1", "{"), ("home/hall/BTtoMQTT/1", "[]"),
            ("home/hall/BTtoMQTT/1", #"{"rssi":-1,"mfid":"4c00","uuid":"12","major":1,"minor":2}"#),
            (
                "home/hall/BTtoMQTT/1",
                #"{"rssi":-1,"mfid":"4c00","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":70000,"minor":2}"#
            ),
            ("home/hall/BTtoMQTT/1", #"{"rssi":-1,"manufacturerdata":"4c0"}"#),
            ("espresense/devices/a/b", #"{"id":"a"}"#),
            ("a/events/rpc", #"{"params":{"events":[{"event":"ble.scan_result","data":[3,[]]}]}}"#),
            ("a/events/rpc", #"{"params":{"events":[{"event":"ble.scan_result","data":[2,[["x",1]]]}]}}"#),
            ("ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01", #"{"rssi":-26,"temperature":21}"#),
            ("x", ""), ("x", "{}"), ("x", "hello"), ("x", "[1]"), ("x", "$GPRP,1,2"),
            ("x", #"{"data":{"gw_mac":"a"}}"#),
            ("x", #"{"data":{"gw_mac":"a","tags":{"c0:00:00:00:00:01":{"rssi":-1,"data":"xy"}}}}"#),
            ("x", #"{"rssiSignature":{}}"#), ("x", #"[{"rssiSignature":[{"rssi":-1}]}]"#),
            ("x", #"{"rssiSignature":[{"receiverId":"a","rssi":-1}],"packets":["4624"]}"#),
            ("x", #"{"rssiSignature":[{"receiverId":"a","rssi":-1}]}"#),
            ("x", #"{"rssiSignature":[{"receiverId":"a","rssi":-1}],"packets":[]}"#),
            ("x", #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"type":"ibeacon","rssi":-1}]}"#),
            (
                "x",
                #"{"msg_id":3004,"device_info":{"mac":"a"},"data":[{"value":{"type":"iBeacon","uuid":"e2c5","rssi":-1}}]}"#
            ),
            ("x", #"{"msg_id":3070,"data":[]}"#), ("x", #"{"msg_id":3070,"device_info":{"mac":"a"},"data":{}}"#),
            ("home//BTtoMQTT/1", #"{"rssi":-1}"#),
            ("espresense/rooms/a/status", "perhaps"),
        ])
    func unreadable(topic: String, payload: String) {
        var bench = NetworkBench()
        for number in 0..<1000 { bench.receive(topic, payload, at: 1001 + Double(number)) }
        #expect(bench.heard == [])
        #expect(bench.notices.count == 1)
        #expect(bench.network.faults.values.reduce(0, +) == 1000)
    }

    @Test(
        "A signal strength is delivered unchanged, or as unavailable if it does not fit into a byte",
        arguments: [
            (127, 127), (21, 21), (500, 127), (20, 20), (0, 0), (-127, -127), (-1000, 127), (-128, -128),
        ])
    func readings(rssi: Int, given: Int) {
        var bench = NetworkBench()
        bench.receive("home/hall/BTtoMQTT/1", Self.openMQTTGateway(rssi: rssi))
        #expect(bench.readings == [given])
    }
}
