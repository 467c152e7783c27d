import BeaconDelivery
import BeaconMQTT
import BeaconModel
import TestSupport
import Testing

@Suite("What a broker retains", .fewAtATime)
struct RetentionTests {
    private static let keys = NamedBeacon(name: "Ann's keys", identity: TestBeacon.keys)
    private static let bag = NamedBeacon(name: "bag", identity: TestBeacon.bag)
    private static let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
    private static let region = "homeassistant/device/gateway_region_"

    @Test("is the state of regions and beacons, for whoever comes later", arguments: MQTTVersion.allCases)
    func states(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let sink = try MQTTSink(
            .test(port: broker.port, version: version), regions: ["shop"], beacons: [Self.keys],
            homeAssistant: HomeAssistantOptions(isEnabled: false))
        sink.receive(.region("shop", .inside, at: 1))
        sink.receive(.presence(.inside, at: 1))
        sink.receive(.ranged(1.234, rssi: -61, at: 2))
        try await running(sink.run) {
            let state = #"{"distance":1.2,"presence":"present","proximity":"near","receiver":"hci0","rssi":-61}"#
            let expected = [
                "beacond/hall/beacon/Ann's%20keys/state=\(state)", "beacond/hall/region/shop/state=inside",
                "beacond/hall/status=online",
            ]
            try await eventually("it is retained") { try await Observer.retained(port: broker.port) == expected }
        }
    }

    @Test(
        "loses what is not configured any more, also where nobody ran when that changed",
        arguments: MQTTVersion.allCases)
    func removal(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let others = try await Observer(port: broker.port, version: version)
        let foreign = [
            "beacond/hall2/region/shop/state=inside", "homeassistant/device/somebody/config={}",
            "homeassistant/sensor/beacond/config={}",
        ]
        for message in foreign {
            let parts = message.split(separator: "=")
            try await others.publish(
                MQTTMessage(topic: String(parts[0]), text: String(parts[1]), isRetained: true))
        }

        func run(
            _ regions: [String], _ beacons: [NamedBeacon], _ isEnabled: Bool, _ expected: [String],
            announcesRegions: Bool = true
        ) async throws {
            let sink = try MQTTSink(
                .test(port: broker.port, version: version), regions: regions, beacons: beacons,
                homeAssistant: HomeAssistantOptions(isEnabled: isEnabled, announcesRegions: announcesRegions))
            for region in ["shop", "yard"] { sink.receive(.region(region, .inside)) }
            for beacon in [Self.keys, Self.bag] { sink.receive(.presence(.inside, of: beacon.identity)) }
            try await running(sink.run) {
                let expected = (expected + foreign.map { String($0.prefix { $0 != "=" }) }).sorted()
                try await eventually("\(expected) are retained") {
                    try await Observer.retained(port: broker.port).map { String($0.prefix { $0 != "=" }) } == expected
                }
            }
        }

        let (base, status) = ("beacond/hall", "beacond/hall/status")
        try await run(
            ["shop", "yard"], [Self.keys, Self.bag], true,
            [
                "\(base)/region/shop/state", "\(base)/region/yard/state", "\(base)/beacon/Ann's%20keys/state",
                "\(base)/beacon/bag/state", status, Self.device + "_2/config", Self.device + "_3/config",
                Self.region + "shop/config", Self.region + "yard/config",
            ])
        try await run(
            ["shop"], [Self.keys], true,
            [
                "\(base)/region/shop/state", "\(base)/beacon/Ann's%20keys/state", status, Self.device + "_2/config",
                Self.region + "shop/config",
            ])
        // A beacon that is renamed keeps its device, and its state moves.
        try await run(
            ["shop"], [NamedBeacon(name: "key", identity: TestBeacon.keys)], true,
            [
                "\(base)/region/shop/state", "\(base)/beacon/key/state", status, Self.device + "_2/config",
                Self.region + "shop/config",
            ])
        try await run(
            ["shop"], [NamedBeacon(name: "key", identity: TestBeacon.keys)], true,
            ["\(base)/region/shop/state", "\(base)/beacon/key/state", status, Self.device + "_2/config"],
            announcesRegions: false)
        try await run([], [Self.keys], false, ["\(base)/beacon/Ann's%20keys/state", status])
        try await run([], [], false, [status])
    }

    @Test("is said again to a broker that forgot it", arguments: MQTTVersion.allCases)
    func forgetfulBroker(version: MQTTVersion) async throws {
        let broker = try await Broker("allow_anonymous true\npersistence false")
        let sink = try MQTTSink(
            .test(port: broker.port, version: version), regions: ["shop"], beacons: [Self.keys],
            homeAssistant: HomeAssistantOptions())
        sink.receive(.region("shop", .inside))
        sink.receive(.presence(.inside))
        try await running(sink.run) {
            try await eventually("it is retained") { try await Observer.retained(port: broker.port).count == 5 }
            let before = try await Observer.retained(port: broker.port)
            broker.kill()
            sink.receive(.region("shop", .outside))
            try await broker.start()
            let expected = before.map {
                $0.hasPrefix("beacond/hall/region") ? "beacond/hall/region/shop/state=outside" : $0
            }
            try await eventually("it is retained again") {
                try await Observer.retained(port: broker.port) == expected
            }
        }
    }

    @Test("is announced again when Home Assistant starts, and not for a start that is long over")
    func homeAssistantStarts() async throws {
        let broker = try await Broker()
        let observer = try await Observer(port: broker.port)
        try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "online", isRetained: true))
        let sink = try MQTTSink(
            .test(port: broker.port), beacons: [Self.keys],
            homeAssistant: HomeAssistantOptions(announcementDelay: .milliseconds(50)))
        let topic = Self.device + "_2/config"
        func announcements() -> Int { observer.messages.count { $0.topic == topic } }
        try await running(sink.run) {
            try await eventually("it is announced") { announcements() == 1 }
            try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "offline"))
            try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "online"))
            try await eventually("it is announced again") { announcements() == 2 }
            // What comes behind shows that nothing else was on its way.
            sink.receive(.presence(.inside))
            try await eventually("the state comes") { observer.messages.contains { $0.text.contains("present") } }
            #expect(announcements() == 2)
        }
    }
}
