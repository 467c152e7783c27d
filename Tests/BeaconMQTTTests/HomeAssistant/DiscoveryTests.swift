import BeaconModel
import Foundation
import Testing

@testable import BeaconMQTT

@Suite("What Home Assistant is told")
struct DiscoveryTests {
    @Test(
        "validates against its documentation",
        arguments: [
            ("keys", "gateway"), ("Ann's keys / 2", "beacond-hall.example"), ("鍵", "büro"), ("", "a b"),
        ])
    func valid(name: String, clientID: String) throws {
        let message = try Self.announcement(name: name, clientID: clientID)
        #expect(HomeAssistantSchema.mistakes(in: message.payload) == [])
        // <prefix>/device/<object_id>/config, of the characters that an object_id may have.
        let pattern = #/homeassistant\/device\/[a-zA-Z0-9_-]+\/config/#
        #expect(message.topic.wholeMatch(of: pattern) != nil)
        #expect(message.isRetained)
    }

    @Test("has the four entities of a beacon")
    func entities() throws {
        let message = try Self.announcement(name: "keys", clientID: "gateway")
        let root = try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
        let components = try #require(root["components"] as? [String: [String: Any]])
        func value(_ component: String, _ key: String) -> String? { components[component]?[key] as? String }
        #expect(Set(components.keys) == ["presence", "distance", "proximity", "rssi"])
        #expect(value("presence", "device_class") == "presence")
        #expect(value("distance", "unit_of_measurement") == "m")
        #expect(components["proximity"]?["options"] as? [String] == ["immediate", "near", "far", "unknown"])
        #expect(value("rssi", "unit_of_measurement") == "dBm")
        #expect(components["presence"]?["name"] is NSNull)
        #expect(root["state_topic"] as? String == "beacond/hall/beacon/keys/state")
        #expect(root["availability_topic"] as? String == "beacond/hall/status")
    }

    @Test(
        "has a device of each region, with its state as an occupancy",
        arguments: ["shop", "", "Ann's room / 2", "鍵", "a_region_b", "_"], ["gateway", "büro_2"])
    func region(name: String, clientID: String) throws {
        let store = Self.store(regions: [name], clientID: clientID)
        let message = try #require(store.first { $0.topic.hasPrefix("homeassistant/") })
        #expect(HomeAssistantSchema.mistakes(in: message.payload) == [])
        #expect(message.topic.wholeMatch(of: #/homeassistant\/device\/[a-zA-Z0-9_-]+\/config/#) != nil)
        #expect(message.isRetained)
        let root = try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
        let device = try #require(root["device"] as? [String: Any])
        #expect(device["name"] as? String == name)
        #expect(root["state_topic"] as? String == TopicTree(base: "beacond/hall").regionState(name))
        let components = try #require(root["components"] as? [String: [String: Any]])
        #expect(components.count == 1)
        let presence = try #require(components["occupancy"])
        #expect(presence["device_class"] as? String == "occupancy")
        // The words of the region's state, but for the unknown one, which its template makes Home Assistant's.
        #expect(presence["payload_on"] as? String == "inside")
        #expect(presence["payload_off"] as? String == "outside")
        #expect(presence["value_template"] as? String == "{{ 'None' if value == 'unknown' else value }}")
        #expect(presence["name"] is NSNull)
    }

    @Test("has no regions where they are not wanted, and withdraws one that is removed")
    func unwantedRegions() throws {
        let options = HomeAssistantOptions(announcesRegions: false)
        #expect(Self.store(regions: ["shop"], options: options).isEmpty)
        let topics = TopicTree(base: "beacond/hall")
        let discovery = Discovery(HomeAssistantOptions(), broker: .test(port: 1), topics: topics)
        var store = RetainedMessageStore(
            regions: ["shop", "hall"], beacons: [], topics: topics, discovery: discovery, options: MQTTStateOptions())
        store.connected()
        #expect(store.removeDue().count == 2)
        store.configure(regions: ["hall"], beacons: [], discovery: discovery)
        let gone = store.removeDue().map { "\($0.topic)=\($0.text)" }.filter { $0.hasPrefix("homeassistant/") }
        #expect(gone.count == 1)
        #expect(gone.first?.hasSuffix("_region_shop/config=") == true)
    }

    @Test("has the place as an entity where there are places, and its state says it also where it is unknown")
    func place() throws {
        let topics = TopicTree(base: "beacond/hall")
        let discovery = Discovery(
            HomeAssistantOptions(), broker: .test(port: 1), topics: topics, places: ["hall", "Ann's room"])
        let payload = discovery.payload(for: NamedBeacon(name: "keys", identity: TestBeacon.keys))
        let bytes = Array(try JSONEncoder().encode(payload))
        #expect(HomeAssistantSchema.mistakes(in: bytes) == [])
        #expect(payload.components["place"]?.options == ["hall", "Ann's room", "away"])
        #expect(payload.components["place"]?.valueTemplate == "{{ value_json.place }}")
        let state = try JSONEncoder().encode(BeaconState(hasPlaces: true))
        #expect(String(decoding: state, as: UTF8.self).contains(#""place":null"#))
    }

    @Test("knows a beacon by the same ids whatever it is called")
    func stableIDs() throws {
        let first = try Self.announcement(name: "keys", clientID: "gateway")
        let second = try Self.announcement(name: "Ann's keys", clientID: "gateway")
        #expect(first.topic == second.topic)
        #expect(try Self.ids(first) == Self.ids(second))
        // They are written down here, since a change would make every device of every user a new one.
        #expect(
            try Self.ids(first)
                == ["presence", "distance", "proximity", "rssi"].map {
                    "gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2_\($0)"
                }.sorted())
        #expect(first.topic == "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config")
    }

    @Test("reads as its own what it announced, and nothing else")
    func ownership() {
        let options = HomeAssistantOptions(nodeID: "a_b")
        let discovery = Discovery(options, broker: .test(port: 1), topics: TopicTree(base: "x"))
        let hex = "e2c56db5dffb48d2b060d0f5a71096e0"
        #expect(discovery.owns("homeassistant/device/a_b_\(hex)_1_2/config"))
        #expect(discovery.owns("homeassistant/device/a_b_region_Ann_27s__room/config"))
        #expect(discovery.owns("homeassistant/device/a_b_region_/config"))
        for topic in [
            "homeassistant/device/a_region_shop/config", "homeassistant/device/a_b__region_shop/config",
            "homeassistant/device/a_b_region_Ann_2/config", "homeassistant/device/a_b_region_a_b/config",
            "homeassistant/device/a_b_region_a_41/config", "homeassistant/device/a_b_region_a_+5/config",
            "homeassistant/device/a_b_regions/config", "homeassistant/device/a_b_region_\u{e4}/config",
            "homeassistant/device/a_\(hex)_1_2/config", "homeassistant/device/b_a_b_\(hex)_1_2/config",
            "homeassistant/device/a_b_\(hex)_1/config", "homeassistant/device/a_b_\(hex)_1_70000/config",
            "homeassistant/device/a_b_\(hex)_01_2/config", "homeassistant/device/a_b/config",
            "homeassistant/device/config", "homeassistant/sensor/a_b_\(hex)_1_2/config",
            "other/device/a_b_\(hex)_1_2/config", "homeassistant/device/a_b_\(hex.uppercased())_1_2/config",
        ] {
            #expect(!discovery.owns(topic), "\(topic)")
        }
    }

    @Test("is null, and not missing, where nothing is known, since templates read every key")
    func stateOfNothing() throws {
        let text = String(decoding: try JSONEncoder.sorted.encode(BeaconState()), as: UTF8.self)
        #expect(
            text == #"{"distance":null,"presence":"unknown","proximity":"unknown","receiver":null,"rssi":null}"#)
    }

    /// The messages that a store retains of regions.
    private static func store(
        regions: [String], clientID: String = "gateway", options: HomeAssistantOptions = HomeAssistantOptions()
    ) -> [MQTTMessage] {
        var broker = MQTTOptions.test(port: 1, clientID: clientID)
        broker.baseTopic = "beacond/hall"
        let topics = TopicTree(base: broker.baseTopic)
        var store = RetainedMessageStore(
            regions: regions, beacons: [], topics: topics,
            discovery: Discovery(options, broker: broker, topics: topics), options: MQTTStateOptions())
        store.connected()
        return store.removeDue()
    }

    private static func announcement(name: String, clientID: String) throws -> MQTTMessage {
        var options = MQTTOptions.test(port: 1, clientID: clientID)
        options.baseTopic = "beacond/hall"
        let topics = TopicTree(base: options.baseTopic)
        var store = RetainedMessageStore(
            regions: [], beacons: [NamedBeacon(name: name, identity: TestBeacon.keys)], topics: topics,
            discovery: Discovery(HomeAssistantOptions(), broker: options, topics: topics), options: MQTTStateOptions())
        store.connected()
        return try #require(store.removeDue().first)
    }

    private static func ids(_ message: MQTTMessage) throws -> [String] {
        let root = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
        let components = root?["components"] as? [String: [String: Any]]
        return try #require(components).values.compactMap { $0["unique_id"] as? String }.sorted()
    }
}
