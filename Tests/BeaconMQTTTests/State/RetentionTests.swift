import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BrokerTestSupport
import TestSupport
import Testing

@Suite("Retained messages at a broker", .fewAtATime)
struct RetentionTests {
    private static let keys = NamedBeacon(name: "Ann's keys", identity: TestBeacon.keys)
    private static let bag = NamedBeacon(name: "bag", identity: TestBeacon.bag)
    private static let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
    private static let shop: NamedRegion = "shop"
    private static let yard: NamedRegion = "yard"
    private static let gateway = ["homeassistant/device/gateway_gateway/config", "beacond/hall/gateway/state"]

    private static func topic(of region: NamedRegion) -> String { "homeassistant/device/\(region.device)/config" }

    @Test("The states of regions and beacons are retained for later subscribers", arguments: MQTTVersion.allCases)
    func states(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let sink = try MQTTSink(
            .test(port: broker.port, version: version), regions: ["shop"], beacons: [Self.keys],
            homeAssistant: HomeAssistantSettings(isEnabled: false))
        sink.receive(.region("shop", .inside, at: 1))
        sink.receive(.presence(.inside, at: 1))
        sink.receive(.ranged(1.234, rssi: -61, at: 2))
        try await running(sink.run) {
            let state =
                #"{"distance":1.2,"place":null,"presence":"present","proximity":"near","receiver":"hci0","rssi":-61,"tracker":null}"#
            let expected = [
                "beacond/hall/beacon/Ann's%20keys/state=\(state)", "beacond/hall/region/shop/state=inside",
                "beacond/hall/status=online",
            ]
            try await eventually("it is retained") {
                // Repeat the reading, because unconfirmed readings are removed.
                sink.receive(.ranged(1.234, rssi: -61, at: 3))
                return try await Observer.retained(port: broker.port) == expected
            }
        }
    }

    @Test(
        "Messages that are no longer configured are removed, even if no gateway ran during the change",
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
            _ regions: [NamedRegion], _ beacons: [NamedBeacon], _ isEnabled: Bool, _ expected: [String],
            announcesRegions: Bool = true
        ) async throws {
            let sink = try MQTTSink(
                .test(port: broker.port, version: version), regions: regions, beacons: beacons,
                homeAssistant: HomeAssistantSettings(isEnabled: isEnabled, announcesRegions: announcesRegions))
            for region in regions { sink.receive(.region(region.name, .inside)) }
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
            [Self.shop, Self.yard], [Self.keys, Self.bag], true,
            Self.gateway + [
                "\(base)/region/shop/state", "\(base)/region/yard/state", "\(base)/beacon/Ann's%20keys/state",
                "\(base)/beacon/bag/state", status, Self.device + "_2/config", Self.device + "_3/config",
                Self.topic(of: Self.shop), Self.topic(of: Self.yard),
            ])
        try await run(
            [Self.shop], [Self.keys], true,
            Self.gateway + [
                "\(base)/region/shop/state", "\(base)/beacon/Ann's%20keys/state", status, Self.device + "_2/config",
                Self.topic(of: Self.shop),
            ])
        // A renamed beacon or region keeps its device, and its state moves.
        var store = Self.shop
        store.name = "store"
        let key = NamedBeacon(name: "key", identity: TestBeacon.keys)
        try await run(
            [store], [key], true,
            Self.gateway + [
                "\(base)/region/store/state", "\(base)/beacon/key/state", status, Self.device + "_2/config",
                Self.topic(of: Self.shop),
            ])
        try await run(
            [store], [key], true,
            Self.gateway + [
                "\(base)/region/store/state", "\(base)/beacon/key/state", status, Self.device + "_2/config",
            ], announcesRegions: false)
        try await run([], [Self.keys], false, ["\(base)/beacon/Ann's%20keys/state", status])
        try await run([], [], false, [status])
    }

    @Test(
        "States are corrected before the gateway is online, and no reading of an earlier run is shown",
        arguments: MQTTVersion.allCases)
    func order(version: MQTTVersion) async throws {
        let broker = try await Broker()
        func sink() throws -> MQTTSink {
            try MQTTSink(
                .test(port: broker.port, version: version), regions: [Self.shop], beacons: [Self.keys],
                homeAssistant: HomeAssistantSettings(), awaitsRestoredStates: true)
        }
        let first = try sink()
        for event in [BeaconEvent.region("shop", .inside), .presence(.inside)] { first.receive(event) }
        first.restored()
        func retained() async throws -> [String: String] {
            let messages = try await Observer.retained(port: broker.port).map { $0.split(separator: "=", maxSplits: 1) }
            return Dictionary(messages.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }) { $1 }
        }
        let beacon = "beacond/hall/beacon/Ann's%20keys/state"
        try await running(first.run) {
            try await eventually("the beacon is near") {
                first.receive(.ranged(1, at: 1))
                let messages = try await retained()
                return messages[beacon]?.contains("near") == true && messages["beacond/hall/status"] == "online"
            }
        }
        #expect(try await retained()["beacond/hall/status"] == "restarting")

        let observer = try await Observer(port: broker.port)
        let second = try sink()
        try await running(second.run) {
            try await eventually("the gateway is connected") {
                observer.messages.count { $0.topic == "beacond/hall/status" } >= 2
            }
            // Without the states of the earlier run it publishes nothing.
            #expect(try await retained()[beacon]?.contains("near") == true)
            second.receive(.presence(.inside))
            second.restored()
            try await eventually("it is online") { observer.messages.contains { $0.text == "online" } }
            let online = try #require(observer.messages.firstIndex { $0.text == "online" })
            let before = observer.messages[..<online].filter { !$0.isRetained }
            let state = try #require(before.last { $0.topic == beacon })
            #expect(state.text.contains(#""presence":"present","proximity":"unknown""#), "\(state.text)")
            #expect(before.last { $0.topic == "beacond/hall/region/shop/state" }?.text == "unknown")
            #expect(!observer.messages[online...].contains { $0.topic.hasPrefix("beacond/hall/region/") })
        }
    }

    @Test("A broker that lost the messages receives them again", arguments: MQTTVersion.allCases)
    func forgetfulBroker(version: MQTTVersion) async throws {
        let broker = try await Broker("allow_anonymous true\npersistence false")
        let sink = try MQTTSink(
            .test(port: broker.port, version: version), regions: ["shop"], beacons: [Self.keys],
            homeAssistant: HomeAssistantSettings())
        sink.receive(.region("shop", .inside))
        sink.receive(.presence(.inside))
        try await running(sink.run) {
            try await eventually("it is retained") { try await Observer.retained(port: broker.port).count == 7 }
            try await eventually("it is online") {
                try await Observer.retained(port: broker.port).contains("beacond/hall/status=online")
            }
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

    @Test("Devices are announced again when Home Assistant starts, and not for an old start")
    func homeAssistantStarts() async throws {
        let broker = try await Broker()
        let observer = try await Observer(port: broker.port)
        try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "online", isRetained: true))
        let sink = try MQTTSink(
            .test(port: broker.port), beacons: [Self.keys],
            homeAssistant: HomeAssistantSettings(announcementDelay: .milliseconds(50)))
        let topic = Self.device + "_2/config"
        func announcements() -> Int { observer.messages.count { $0.topic == topic } }
        try await running(sink.run) {
            try await eventually("it is announced") { announcements() == 1 }
            try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "offline"))
            try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "online"))
            try await eventually("it is announced again") { announcements() == 2 }
            // The next message shows that nothing else was sent.
            sink.receive(.presence(.inside))
            try await eventually("the state arrives") { observer.messages.contains { $0.text.contains("present") } }
            #expect(announcements() == 2)
        }
    }
}
