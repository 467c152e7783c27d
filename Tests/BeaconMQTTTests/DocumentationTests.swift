import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

@Suite("docs/mqtt.md", .fewAtATime)
struct DocumentationTests {
    @Test("The examples show the actual messages")
    func examples() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/mqtt.md")
        let text = try String(contentsOf: file, encoding: .utf8)

        let broker = try await Broker()
        let log = broker.folder.url.appendingPathComponent("subscriber").path
        let subscriber = try ChildProcess(
            "mosquitto_sub", ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "#", "-v", "-q", "1"], output: log)
        defer { subscriber.end(SIGKILL) }
        func lines() -> [String] {
            let text = try? String(contentsOfFile: log, encoding: .utf8)
            return (text ?? "").split(separator: "\n").map(String.init)
        }
        let observer = try await Observer(port: broker.port, to: "none")
        try await eventually("the subscriber is ready") {
            try await observer.publish(MQTTMessage(topic: "none", text: ""))
            return !lines().isEmpty
        }

        var options = MQTTSettings.test(port: broker.port, clientID: "beacond-hall")
        options.baseTopic = "beacond/hall"
        let sink = try MQTTSink(
            options, regions: [Self.shop],
            beacons: [NamedBeacon(name: "Ann's keys", identity: TestBeacon.keys, isTracker: true)],
            places: [NamedPlace(name: "Kitchen", receivers: ["kitchen"])],
            homeAssistant: HomeAssistantSettings(configurationURL: "http://192.168.1.20:8099/"))
        sink.receive(Self.change(.state, .inside, at: 1))
        sink.receive(.presence(.inside, at: 1))
        sink.receive(.ranged(1.234, rssi: -61, receiver: "kitchen", at: 2))
        sink.receive(
            .placed(
                PlaceEvent(time: .at(2), identity: TestBeacon.keys, state: .inside, place: "Kitchen", before: nil)))
        try await running(sink.run) {
            var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 42, waiting: 0)
            diagnostics.receivers = ["kitchen": .init(hears: true, advertsPerMinute: 2520)]
            sink.receive(diagnostics)
            #expect(await sink.deliver([try .enter(1)]) == [.delivered])
            try await eventually("it is online") { lines().contains("beacond/hall/status online") }
            // Events are dropped until the sink knows that it is online.
            try await eventually("an exit arrives") {
                sink.receive(Self.change(.exit, .outside, at: 3))
                sink.receive(Self.change(.state, .inside, at: 3))
                // Repeat the reading, because unconfirmed readings are removed.
                sink.receive(.ranged(1.234, rssi: -61, receiver: "kitchen", at: 3))
                return lines().contains { $0.hasPrefix("beacond/hall/region/shop/event ") }
            }
        }
        try await eventually("the last message arrives") { lines().last == "beacond/hall/status restarting" }
        for line in lines() where !line.hasPrefix("none") {
            let topic = String(line.prefix { $0 != " " })
            // Skip messages from before the first diagnostics and after the exit.
            if line == "beacond/hall/region/shop/state outside" || line.contains(#""hears":null"#) { continue }
            if topic.hasPrefix("homeassistant/") {
                #expect(text.contains(topic))
                let payload = Data(line.dropFirst(topic.count + 1).utf8)
                let shown = try Self.blocks(in: text).map { try Self.sorted(Data($0.utf8)) }
                #expect(shown.contains(try Self.sorted(payload)), "\(topic)")
            } else {
                #expect(text.contains(line + "\n"), "\(line)")
            }
        }
    }

    private static let shop = NamedRegion(name: "shop", constraint: BeaconConstraint(uuid: TestBeacon.uuid))

    private static func change(_ kind: RegionEvent.Kind, _ state: RegionState, at seconds: Double) -> BeaconEvent {
        .region(
            RegionEvent(
                kind, name: "shop", constraint: shop.constraint, time: .at(seconds), receiver: "hci0", state: state,
                before: .unknown))
    }

    /// Returns the blocks of JSON in a page.
    private static func blocks(in text: String) -> [String] {
        text.components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    private static func sorted(_ json: Data) throws -> String {
        let object = try JSONSerialization.jsonObject(with: json)
        return String(
            decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }
}
