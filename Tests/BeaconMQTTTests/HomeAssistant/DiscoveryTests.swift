import BeaconModel
import BeaconSupport
import BrokerTestSupport
import Foundation
import Testing

@testable import BeaconMQTT

@Suite("Announcements to Home Assistant")
struct DiscoveryTests {
    @Test(
        "Announcements follow the documentation",
        arguments: [
            ("keys", "gateway"), ("Ann's keys / 2", "beacond-hall.example"), ("鍵", "büro"), ("", "a b"),
        ])
    func valid(name: String, clientID: String) throws {
        let message = try Self.announcement(name: name, clientID: clientID)
        #expect(HomeAssistantSchema.mistakes(in: message.payload) == [])
        // <prefix>/device/<object_id>/config, with the valid characters of an object_id.
        let pattern = #/homeassistant\/device\/[a-zA-Z0-9_-]+\/config/#
        #expect(message.topic.wholeMatch(of: pattern) != nil)
        #expect(message.isRetained)
    }

    @Test("A beacon has its entities, and a carried beacon also has a tracker", arguments: [false, true])
    func entities(isTracker: Bool) throws {
        let beacon = NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: isTracker)
        let root = try Self.json(Self.discovery().payload(for: beacon))
        let components = try #require(root["components"] as? [String: [String: Any]])
        func value(_ component: String, _ key: String) -> String? { components[component]?[key] as? String }
        var names: Set = ["presence", "distance", "proximity", "rssi", "receiver", "event"]
        if isTracker { names.insert("tracker") }
        #expect(Set(components.keys) == names)
        #expect(value("presence", "device_class") == "presence")
        #expect(value("distance", "unit_of_measurement") == "m")
        #expect(components["proximity"]?["options"] as? [String] == ["immediate", "near", "far"])
        #expect(value("proximity", "icon")?.hasPrefix("mdi:") == true)
        #expect(value("rssi", "unit_of_measurement") == "dBm")
        #expect(components["presence"]?["name"] is NSNull)
        #expect(value("presence", "default_entity_id") == "binary_sensor.keys")
        #expect(value("rssi", "default_entity_id") == "sensor.keys_signal_strength")
        // An `enum` would raise errors when receivers come and go.
        #expect(value("receiver", "device_class") == nil)
        #expect(value("event", "state_topic") == "beacond/hall/beacon/keys/event")
        #expect(components["event"]?["event_types"] as? [String] == ["enter", "exit"])
        #expect(components["event"]?["device_class"] == nil)
        #expect(root["state_topic"] as? String == "beacond/hall/beacon/keys/state")
        #expect(root["availability_topic"] as? String == "beacond/hall/status")
        let availability = root["availability_template"] as? String
        #expect(availability == "{{ 'online' if value == 'online' else 'offline' }}")
        guard isTracker else { return }
        #expect(value("tracker", "platform") == "device_tracker")
        #expect(value("tracker", "source_type") == "bluetooth_le")
        #expect(value("tracker", "payload_home") == "home")
        #expect(value("tracker", "payload_not_home") == "not_home")
        #expect(value("tracker", "payload_reset") == "unknown")
        #expect(value("tracker", "value_template") == "{{ value_json.tracker }}")
        // Without these attributes, Home Assistant counts the person in no zone.
        #expect(value("tracker", "json_attributes_topic") == "beacond/hall/beacon/keys/state")
        let attributes = value("tracker", "json_attributes_template") ?? ""
        #expect(attributes.contains("'tracking_type': 'connection'") && attributes.contains("['zone.home']"))
        // The other entities are unavailable while the gateway is restarting, and the tracker is not.
        #expect(value("tracker", "availability_template") == "{{ value }}")
    }

    @Test(
        "Each region has a device, with its state as an occupancy",
        arguments: ["shop", "", "Ann's room / 2", "鍵", "a_region_b", "_"], ["gateway", "büro_2"])
    func region(name: String, clientID: String) throws {
        let region = NamedRegion(name: name, constraint: TestBeacon.constraint(of: name))
        let announcements = Self.discovery(clientID: clientID).announcements(regions: [region], beacons: [])
        let announcement = try #require(announcements.last)
        let bytes = Array(try JSONEncoder.ofDiscovery.encode(announcement.payload))
        #expect(HomeAssistantSchema.mistakes(in: bytes) == [])
        #expect(announcement.topic.wholeMatch(of: #/homeassistant\/device\/[a-zA-Z0-9_-]+\/config/#) != nil)
        let root = try Self.json(announcement.payload)
        let device = try #require(root["device"] as? [String: Any])
        #expect(device["name"] as? String == name)
        #expect(root["state_topic"] as? String == TopicTree(base: "beacond/hall").regionState(name))
        let components = try #require(root["components"] as? [String: [String: Any]])
        #expect(Set(components.keys) == ["occupancy", "event"])
        let presence = try #require(components["occupancy"])
        #expect(presence["device_class"] as? String == "occupancy")
        // The values of the region's state; the template converts the unknown state to Home Assistant's.
        #expect(presence["payload_on"] as? String == "inside")
        #expect(presence["payload_off"] as? String == "outside")
        #expect(presence["value_template"] as? String == "{{ 'None' if value == 'unknown' else value }}")
        #expect(presence["name"] is NSNull)
    }

    @Test("The gateway's device comes first, and all others refer to it")
    func gateway() throws {
        let options = HomeAssistantSettings(
            configurationURL: "http://192.168.1.20:8099/", supportURL: "https://example.com/help")
        let fixed = NamedBeacon(name: "shelf", identity: TestBeacon.bag, place: "kitchen")
        let announcements = Self.discovery(options).announcements(
            regions: ["shop"], beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys), fixed])
        #expect(announcements.count == 4)
        for (number, announcement) in announcements.enumerated() {
            let bytes = Array(try JSONEncoder.ofDiscovery.encode(announcement.payload))
            #expect(HomeAssistantSchema.mistakes(in: bytes) == [])
            let device = announcement.payload.device
            #expect(device.manufacturer == "swift-beacon")
            #expect(device.swVersion == ProgramVersion.current)
            #expect(device.configurationURL == "http://192.168.1.20:8099/")
            #expect(device.viaDevice == (number == 0 ? nil : "gateway_gateway"))
            #expect(device.suggestedArea == (device.name == "shelf" ? "kitchen" : nil))
            #expect(announcement.payload.origin.swVersion == ProgramVersion.current)
            #expect(announcement.payload.origin.supportURL == "https://example.com/help")
        }
        let gateway = announcements[0].payload
        #expect(gateway.device.identifiers == ["gateway_gateway"])
        #expect(gateway.device.name == "beacond hall")
        #expect(Set(gateway.components.keys) == ["hears", "problem", "adverts", "waiting"])
        #expect(gateway.components.values.allSatisfy { $0.entityCategory == "diagnostic" })
        #expect(announcements[1].payload.device.modelID == "e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/2")
        // The identity is not a serial number.
        let text = String(decoding: try JSONEncoder.ofDiscovery.encode(announcements[1].payload), as: UTF8.self)
        #expect(!text.contains("serial_number"))
    }

    @Test("An address that Home Assistant refuses is not announced", arguments: ["192.168.1.20:8099", "ftp://x/", ""])
    func badAddress(address: String) {
        #expect(HomeAssistantSettings(configurationURL: address).mistakes().count == 1)
        #expect(HomeAssistantSettings(supportURL: address).mistakes().count == 1)
    }

    @Test("Regions are not announced if disabled")
    func unwantedRegions() {
        let discovery = Self.discovery(HomeAssistantSettings(announcesRegions: false))
        let topics = discovery.announcements(regions: ["shop"], beacons: []).map(\.topic)
        #expect(topics == ["homeassistant/device/gateway_gateway/config"])
    }

    @Test("A region's id depends on its beacons or its configured id, not on its name")
    func regionKeys() throws {
        func keys(_ regions: [NamedRegion]) -> [String: String] { NamedRegion.keys(of: regions) }
        let all = BeaconConstraint(uuid: TestBeacon.uuid)
        let hex = "e2c56db5dffb48d2b060d0f5a71096e0"
        #expect(keys([NamedRegion(name: "a", constraint: all)]) == ["a": hex])
        #expect(
            keys([
                NamedRegion(name: "a", constraint: BeaconConstraint(uuid: TestBeacon.uuid, major: 1)),
                NamedRegion(name: "b", constraint: BeaconConstraint(uuid: TestBeacon.uuid, major: 1, minor: 2)),
                NamedRegion(name: "c", constraint: all), NamedRegion(name: "d", constraint: all, id: "desk"),
            ]) == ["a": hex + "-1", "b": hex + "-1-2", "c": hex, "d": "desk"])
        // Two regions with the same beacons have different ids, and the first keeps its id.
        #expect(
            keys([NamedRegion(name: "a", constraint: all), NamedRegion(name: "b", constraint: all)])
                == ["a": hex, "b": hex + ".b"])
        #expect(
            keys([NamedRegion(name: "a", constraint: all), NamedRegion(name: "b", constraint: all, id: hex)])
                == ["a": hex + ".a", "b": hex])
        for region in [NamedRegion(name: "shop", constraint: all), NamedRegion(name: "store", constraint: all)] {
            let announcement = try #require(Self.discovery().announcements(regions: [region], beacons: []).last)
            // The topic is written out here, because a change would make every user's devices new ones.
            #expect(announcement.topic == "homeassistant/device/gateway_region_\(hex)/config")
            #expect(announcement.payload.components["occupancy"]?.uniqueID == "gateway_region_\(hex)_occupancy")
            #expect(announcement.payload.components["event"]?.uniqueID == "gateway_region_\(hex)_event")
        }
    }

    @Test("With places, the place is an entity")
    func place() throws {
        let topics = TopicTree(base: "beacond/hall")
        let discovery = Discovery(
            HomeAssistantSettings(), broker: .test(port: 1), topics: topics, places: ["hall", "Ann's room"])
        let payload = discovery.payload(for: NamedBeacon(name: "keys", identity: TestBeacon.keys))
        let bytes = Array(try JSONEncoder.ofDiscovery.encode(payload))
        #expect(HomeAssistantSchema.mistakes(in: bytes) == [])
        #expect(payload.components["place"]?.options == ["hall", "Ann's room", "away"])
        #expect(payload.components["place"]?.valueTemplate == "{{ value_json.place }}")
    }

    @Test("Each place and each of its receivers has a device in the place's area")
    func places() throws {
        let kitchen = NamedPlace(name: "Kitchen", receivers: ["kitchen", "Hall Pi"])
        let bath = NamedPlace(name: "Bath", receivers: ["pi"], id: "b-1")
        let broker = MQTTSettings.test(port: 1, clientID: "gateway")
        func announcements(_ options: HomeAssistantSettings) -> [(topic: String, payload: DiscoveryPayload)] {
            Discovery(options, broker: broker, topics: TopicTree(base: "beacond/hall"), places: [kitchen, bath])
                .announcements(regions: [], beacons: [])
        }
        let all = announcements(HomeAssistantSettings())
        // The topics are written out here, because a change would make every user's devices new ones.
        #expect(
            all.map(\.topic)
                == ["gateway", "place_kitchen", "place_b-1", "receiver_kitchen", "receiver_Hall_20Pi", "receiver_pi"]
                .map {
                    "homeassistant/device/gateway_\($0)/config"
                })
        #expect(
            all.dropFirst().map(\.payload.device.suggestedArea) == ["Kitchen", "Bath", "Kitchen", "Kitchen", "Bath"])
        for (topic, payload) in all {
            let bytes = Array(try JSONEncoder.ofDiscovery.encode(payload))
            #expect(HomeAssistantSchema.mistakes(in: bytes) == [])
            #expect(Self.discovery().owns(topic))
        }
        let place = all[1].payload
        #expect(place.stateTopic == "beacond/hall/place/Kitchen/state")
        #expect(Set(place.components.keys) == ["occupancy", "count", "hears"])
        #expect(place.components["occupancy"]?.defaultEntityID == "binary_sensor.kitchen_occupied")
        #expect(place.components["count"]?.stateClass == "measurement")
        let receiver = all[4].payload
        #expect(receiver.stateTopic == "beacond/hall/receiver/Hall%20Pi/state")
        #expect(Set(receiver.components.keys) == ["hears", "adverts"])
        #expect(receiver.components["adverts"]?.enabledByDefault == false)
        #expect(receiver.components["hears"]?.defaultEntityID == "binary_sensor.hall_pi_receiver_hears")
        #expect(announcements(HomeAssistantSettings(announcesPlaces: false)).count == 1)
    }

    @Test(
        "The id of a new entity depends neither on its area nor on the language",
        arguments: [
            ("Ann's keys", "ann_s_keys"), ("  A/b--C 2 ", "a_b_c_2"), ("Küche", "küche"), ("鍵", "鍵"), ("'", "beacon"),
        ])
    func entityIDs(name: String, expected: String) {
        let payload = Self.discovery().payload(for: NamedBeacon(name: name, identity: TestBeacon.keys, isTracker: true))
        let ids = payload.components.values.map(\.defaultEntityID)
        #expect(ids.contains("binary_sensor.\(expected)") && ids.contains("device_tracker.\(expected)_tracker"))
        #expect(Set(ids).count == payload.components.count)
    }

    @Test("Names are in the language of the settings, unless Home Assistant names the entity; ids are the same")
    func languages() throws {
        func components(_ language: HomeAssistantLanguage) -> [String: DiscoveryComponent] {
            let discovery = Discovery(
                HomeAssistantSettings(language: language), broker: .test(port: 1, clientID: "gateway"),
                topics: TopicTree(base: "beacond/hall"), places: [NamedPlace(name: "Kitchen", receivers: ["pi"])])
            let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true)
            var all: [String: DiscoveryComponent] = [:]
            for (topic, payload) in discovery.announcements(regions: ["shop"], beacons: [keys]) {
                for (key, component) in payload.components { all["\(topic) \(key)"] = component }
            }
            return all
        }
        let english = components(.english)
        let named: Set = ["distance", "signal_strength", "connectivity", "problem"]
        #expect(
            english.values.allSatisfy { ($0.name == nil) == named.contains($0.deviceClass ?? "") },
            "\(english.values.map { ($0.defaultEntityID, $0.name) })")
        for language in HomeAssistantLanguage.allCases {
            let translated = components(language)
            #expect(translated.mapValues(\.defaultEntityID) == english.mapValues(\.defaultEntityID))
            #expect(translated.mapValues(\.uniqueID) == english.mapValues(\.uniqueID))
            #expect(translated.mapValues(\.options) == english.mapValues(\.options))
            #expect(translated.mapValues { $0.name == nil } == english.mapValues { $0.name == nil })
            let names = Set(translated.values.compactMap(\.name))
            #expect(names.count == Set(english.values.compactMap(\.name)).count, "two entities have one name")
        }
        let german = components(.german).values.first { $0.defaultEntityID == "sensor.keys_proximity" }
        #expect(german?.name == "Nähe")
    }

    @Test("A beacon keeps the unique ids of another program's entities, and belongs to its device, too")
    func formerIDs() throws {
        var beacon = NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true)
        let before = Self.discovery().payload(for: beacon)
        beacon.uniqueIDs = ["device": "espresense-keys", "tracker": "espresense-companion-keys", "place": "none here"]
        let payload = Self.discovery().payload(for: beacon)
        #expect(HomeAssistantSchema.mistakes(in: Array(try JSONEncoder.ofDiscovery.encode(payload))) == [])
        #expect(payload.device.identifiers == before.device.identifiers + ["espresense-keys"])
        #expect(payload.components["tracker"]?.uniqueID == "espresense-companion-keys")
        // The others stay, and without places there is no entity for the place.
        #expect(payload.components.keys == before.components.keys)
        #expect(payload.components["presence"] == before.components["presence"])
    }

    @Test("A beacon's ids do not depend on its name")
    func stableIDs() throws {
        let first = try Self.announcement(name: "keys", clientID: "gateway")
        let second = try Self.announcement(name: "Ann's keys", clientID: "gateway")
        #expect(first.topic == second.topic)
        #expect(try Self.ids(first) == Self.ids(second))
        // The ids are written out here, because a change would make every user's devices new ones.
        #expect(
            try Self.ids(first)
                == ["presence", "distance", "proximity", "rssi", "receiver", "event"].map {
                    "gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2_\($0)"
                }.sorted())
        #expect(first.topic == "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config")
    }

    @Test("A gateway accepts only its own announcements as its own")
    func ownership() {
        let options = HomeAssistantSettings(nodeID: "a_b")
        let discovery = Discovery(options, broker: .test(port: 1), topics: TopicTree(base: "x"))
        let hex = "e2c56db5dffb48d2b060d0f5a71096e0"
        #expect(discovery.owns("homeassistant/device/a_b_\(hex)_1_2/config"))
        #expect(discovery.owns("homeassistant/device/a_b_region_Ann_27s__room/config"))
        #expect(discovery.owns("homeassistant/device/a_b_region_/config"))
        #expect(discovery.owns("homeassistant/device/a_b_gateway/config"))
        for topic in [
            "homeassistant/device/a_gateway/config", "homeassistant/device/a_b_gateways/config",
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

    @Test("Unknown values are null and not missing, because templates read every key")
    func stateOfNothing() throws {
        let text = String(decoding: try JSONEncoder.sorted.encode(BeaconState()), as: UTF8.self)
        #expect(
            text
                == #"{"distance":null,"place":null,"presence":"unknown","proximity":"unknown","receiver":null,"rssi":null,"tracker":null}"#
        )
        let tracker = String(decoding: try JSONEncoder.sorted.encode(BeaconState(tracker: .unknown)), as: UTF8.self)
        #expect(tracker.contains(#""tracker":"unknown""#))
    }

    private static func discovery(
        _ options: HomeAssistantSettings = HomeAssistantSettings(), clientID: String = "gateway"
    ) -> Discovery {
        let broker = MQTTSettings.test(port: 1, clientID: clientID)
        return Discovery(options, broker: broker, topics: TopicTree(base: broker.baseTopic))
    }

    private static func json(_ payload: DiscoveryPayload) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder.ofDiscovery.encode(payload)) as? [String: Any])
    }

    /// Returns the message that announces a beacon.
    private static func announcement(name: String, clientID: String) throws -> MQTTMessage {
        let broker = MQTTSettings.test(port: 1, clientID: clientID)
        var store = RetainedMessageStore(
            regions: [], beacons: [NamedBeacon(name: name, identity: TestBeacon.keys, isTracker: false)],
            topics: TopicTree(base: broker.baseTopic), discovery: discovery(clientID: clientID))
        store.connected()
        _ = store.removeDue()
        return try #require(store.removeDue().last)
    }

    private static func ids(_ message: MQTTMessage) throws -> [String] {
        let root = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
        let components = root?["components"] as? [String: [String: Any]]
        return try #require(components).values.compactMap { $0["unique_id"] as? String }.sorted()
    }
}
