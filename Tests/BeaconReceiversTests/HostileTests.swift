import BeaconModel
import BeaconSupport
import Testing

@testable import BeaconReceivers

@Suite("Malicious messages")
struct HostileTests {
    /// Topics and payloads of every kind, to be corrupted.
    private static let samples: [(topic: String, payload: String)] = [
        ("home/hall/BTtoMQTT/C00000000001", FormatTests.openMQTTGateway()),
        (
            "espresense/devices/x/kitchen",
            #"{"id":"iBeacon:\#(NetworkBench.uuid)-1-2","rssi":-70,"mac":"c00000000001"}"#
        ),
        (
            "shelly/events/rpc",
            #"{"params":{"events":[{"event":"ble.scan_result","data":[2,[["c0:00:00:00:00:01",-70,"\#(NetworkBench.base64)",""]]]}]}}"#
        ),
        (
            "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01",
            #"{"rssi":-70,"data":"\#(NetworkBench.hexadecimal)"}"#
        ),
        (
            "x",
            #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"mac":"c00000000001","rssi":-70,"adv_data":"\#(NetworkBench.hexadecimal)"}]}"#
        ),
        (
            "x",
            #"[{"type":"Gateway","mac":"a"},{"mac":"C00000000001","rssi":-70,"rawData":"\#(NetworkBench.hexadecimal)"}]"#
        ),
        (
            "x",
            #"{"transmitterId":"c00000000001","rssiSignature":[{"receiverId":"a","rssi":-70}],"packets":["46240100000000c0\#(NetworkBench.hexadecimal)"]}"#
        ),
        ("x", "$GPRP,C00000000001,CCB97E7361A4,-70,\(NetworkBench.hexadecimal)"),
        ("home/hall/LWT", "online"),
    ]

    @Test("Corrupted messages never trap, and valid ones are still read afterwards", arguments: 0..<8)
    func corrupted(sample: Int) {
        var random = SplitMix64(seed: UInt64(sample))
        let (topic, payload) = Self.samples[sample]
        var bench = NetworkBench()
        let parts = Array("{}[]\",:\\0u-.e$\n".utf8)
        for number in 0..<4000 {
            var bytes = Array(payload.utf8)
            for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] = parts.randomElement(using: &random) ?? 0
                case 2: bytes.removeSubrange(place...)
                case 3: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
                default: bytes.remove(at: place)
                }
            }
            var levels = Array(topic.utf8)
            if number % 7 == 0, let place = levels.indices.randomElement(using: &random) {
                levels[place] = UInt8(ascii: "/")
            }
            bench.receive(String(decoding: levels, as: UTF8.self), bytes, at: 1001 + Double(number) * 0.1)
        }
        bench.pass(to: 1500)
        let before = bench.heard.count
        bench.receive(topic, payload, at: 1500)
        #expect(bench.network.receivers.count <= 256)
        if topic != "home/hall/LWT" { #expect(bench.heard.count == before + 1) }
    }

    /// Too long for test arguments.
    private static let endlessPayloads = [
        String(repeating: "[", count: 200_000), String(repeating: "{\"a\":", count: 100_000),
        "{\"rssi\":-70,\"x\":" + String(repeating: "[", count: 50_000) + String(repeating: "]", count: 50_000) + "}",
        "{\"id\":\"" + String(repeating: "\\u0041", count: 50_000) + "\",\"rssi\":-70}",
        "{\"rssi\":" + String(repeating: "9", count: 100_000) + "}",
        "{\"rssi\":-1e999999999,\"id\":1}",
    ]

    @Test("Deep, long and endless texts are rejected in linear time", arguments: 0..<6)
    func endless(number: Int) {
        var bench = NetworkBench()
        for topic in ["home/hall/BTtoMQTT/1", "espresense/devices/a/b", "a/events/rpc", "x"] {
            bench.receive(topic, Self.endlessPayloads[number])
        }
        #expect(bench.heard == [])
    }
}
