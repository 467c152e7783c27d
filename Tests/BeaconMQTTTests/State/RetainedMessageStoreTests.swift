import BeaconModel
import BrokerTestSupport
import Testing

@testable import BeaconMQTT

@Suite("The messages that a broker should retain")
struct RetainedMessageStoreTests {
    @Test("Each configured region has a state, unknown at first")
    func regions() {
        var store = Self.store(regions: ["shop", "a/b"])
        _ = store.receive(.region("shop", .inside))
        _ = store.receive(.region("other", .inside))
        #expect(Self.removeDue(&store) == [])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/shop/state=inside", "g/region/a%2Fb/state=unknown"])
        #expect(Self.removeDue(&store) == [])
        _ = store.receive(.region("shop", .inside))
        #expect(Self.removeDue(&store) == [])
        _ = store.receive(.region("shop", .outside))
        _ = store.receive(.region("shop", .unknown))
        #expect(Self.removeDue(&store) == ["g/region/shop/state=unknown"])
    }

    @Test("Messages are published again after each connection, and not in between")
    func connections() {
        var store = Self.store(regions: ["shop"])
        store.connected()
        _ = store.receive(.region("shop", .inside))
        #expect(Self.removeDue(&store) == ["g/region/shop/state=inside"])
        store.disconnected()
        _ = store.receive(.region("shop", .outside))
        #expect(Self.removeDue(&store) == [])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
    }

    @Test("A failed message is retried with the current state")
    func failure() {
        var store = Self.store(regions: ["shop"])
        store.connected()
        _ = store.receive(.region("shop", .inside))
        let due = store.removeDue()
        _ = store.receive(.region("shop", .outside))
        for message in due { store.failed(message) }
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
    }

    @Test("The store waits for the states of an earlier run, and announces itself as online last")
    func order() {
        let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
        var store = Self.store(regions: ["shop"], beacons: [keys], isEnabled: true, isReady: false)
        store.connected(as: 7)
        store.found("g/region/old/state")
        store.found("homeassistant/device/gateway_region_old/config")
        #expect(Self.removeDue(&store).isEmpty)
        #expect(store.connectionToAnnounce == nil)
        _ = store.receive(.region("shop", .inside))
        store.restored()
        let states = store.removeDue().map(\.topic)
        #expect(states == ["g/beacon/keys/state", "g/gateway/state", "g/region/shop/state"])
        #expect(store.connectionToAnnounce == nil)
        let announcements = store.removeDue().map(\.topic)
        #expect(announcements.contains("homeassistant/device/gateway_region_old/config"))
        let gateway = announcements.firstIndex(of: "homeassistant/device/gateway_gateway/config")
        #expect(gateway.map { announcements[$0...].count } == 3, "the others refer to it: \(announcements)")
        #expect(store.connectionToAnnounce == nil)
        #expect(Self.removeDue(&store) == ["g/region/old/state="])
        #expect(store.connectionToAnnounce == 7)
        // The message is from another connection.
        store.announcedOnline(at: 6)
        #expect(store.connectionToAnnounce == 7)
        store.announcedOnline(at: 7)
        #expect(store.connectionToAnnounce == nil)
        store.disconnected()
        #expect(store.connectionToAnnounce == nil)
        store.connected(as: 8)
        #expect(store.connectionToAnnounce == nil)
        while !store.removeDue().isEmpty {}
        #expect(store.connectionToAnnounce == 8)
    }

    @Test("Messages from an earlier run are deleted unless they are still configured", arguments: [true, false])
    func leftovers(isEnabled: Bool) {
        var store = Self.store(
            regions: ["shop"], beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: isEnabled)
        store.connected()
        while !store.removeDue().isEmpty {}
        let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
        for topic in [
            "g/region/shop/state", "g/region/old/state", "g/region/old", "g/beacon/keys/state", "g/beacon/bag/state",
            "g/status", "gg/region/old/state", "other/region/old/state", device + "_2/config", device + "_3/config",
            "homeassistant/device/somebody/config", "homeassistant/sensor/x/config",
            // The ids of regions were once made from their names.
            "homeassistant/device/gateway_region_shop/config",
        ] {
            store.found(topic)
        }
        var gone: Set = [
            "g/region/old/state=", "g/region/old=", "g/beacon/bag/state=", device + "_3/config=",
            "homeassistant/device/gateway_region_shop/config=",
        ]
        if !isEnabled { gone.insert(device + "_2/config=") }
        #expect(Set(Self.removeAllDue(&store)) == gone)
    }

    @Test("Each named beacon has a device, and no other beacon does")
    func devices() {
        var store = Self.store(beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: true)
        _ = store.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        _ = store.receive(.presence(.inside, of: TestBeacon.bag, at: 1))
        _ = store.receive(.ranged(1, identity: TestBeacon.bag, at: 2))
        store.connected()
        let states = store.removeDue().map(\.topic)
        #expect(states == ["g/beacon/keys/state", "g/gateway/state"])
        let devices = store.removeDue().map(\.topic)
        #expect(
            devices == [
                "homeassistant/device/gateway_gateway/config",
                "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config",
            ])
        store.announceAgain()
        let again = store.removeDue().map(\.topic)
        #expect(again == devices)
    }

    @Test("Removed items are deleted, and remaining ones keep their states")
    func reconfigured() {
        let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
        var store = Self.store(regions: ["shop", "attic"], beacons: [keys], isEnabled: true)
        store.connected()
        _ = store.receive(.region("shop", .inside))
        _ = store.receive(.region("attic", .outside))
        _ = store.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        while !store.removeDue().isEmpty {}
        store.configure(
            regions: ["shop", "cellar"], beacons: [NamedBeacon(name: "bag", identity: TestBeacon.bag)],
            discovery: Self.discovery(isEnabled: true))
        let due = Self.removeAllDue(&store)
        let device = "homeassistant/device/"
        let beacon = device + "gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
        #expect(
            due.map { String($0.prefix { $0 != "=" }) }.sorted()
                == [
                    "g/beacon/bag/state", "g/beacon/keys/state", "g/region/attic/state", "g/region/cellar/state",
                    beacon + "_2/config", beacon + "_3/config", device + NamedRegion("attic").device + "/config",
                    device + NamedRegion("cellar").device + "/config",
                ].sorted())
        #expect(due.filter { $0.hasSuffix("=") }.count == 4)
        store.connected()
        #expect(Self.removeDue(&store).contains("g/region/shop/state=inside"))
    }

    @Test("Renamed regions and beacons keep their states and devices")
    func renamed() throws {
        let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
        var store = Self.store(regions: ["shop"], beacons: [keys], isEnabled: true)
        _ = store.receive(.region("shop", .inside))
        _ = store.receive(.presence(.inside, at: 1))
        _ = store.receive(.ranged(2, at: 1))
        store.connected()
        while !store.removeDue().isEmpty {}
        var region: NamedRegion = "shop"
        region.name = "store"
        store.configure(
            regions: [region], beacons: [NamedBeacon(name: "Ann's keys", identity: TestBeacon.keys)],
            discovery: Self.discovery(isEnabled: true))
        let states = Self.removeDue(&store)
        #expect(states.contains("g/region/store/state=inside"))
        #expect(states.contains { $0.hasPrefix("g/beacon/Ann's%20keys/state=") && $0.contains("near") })
        // The discovery topics are the same, so nothing of them is deleted; the old states follow.
        let devices = store.removeDue()
        #expect(devices.count == 2)
        #expect(devices.allSatisfy { !$0.payload.isEmpty })
        #expect(devices.contains { $0.topic == "homeassistant/device/\(region.device)/config" })
        #expect(Set(Self.removeDue(&store)) == ["g/region/shop/state=", "g/beacon/keys/state="])
    }

    @Test("Each enter and exit is published once, but not after a restart or while the gateway is offline")
    func events() {
        let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
        var store = Self.store(regions: ["shop"], beacons: [keys], isEnabled: true)
        func texts(_ event: BeaconEvent) -> [String] { store.receive(event).map { "\($0.topic)=\($0.text)" } }
        #expect(texts(.region("shop", .inside, .enter)) == [])
        store.connected()
        while !store.removeDue().isEmpty {}
        #expect(texts(.region("shop", .outside, .exit)) == [])
        while !store.removeDue().isEmpty {}
        store.announcedOnline(at: 1)
        #expect(texts(.region("shop", .inside)) == [], "a state that becomes known is not an enter")
        #expect(texts(.region("shop", .outside, .exit)) == [#"g/region/shop/event={"event_type":"exit"}"#])
        #expect(
            texts(.region("shop", .inside, .enter, by: TestBeacon.keys))
                == [#"g/region/shop/event={"beacon":"keys","event_type":"enter"}"#])
        #expect(texts(.presence(.inside, .enter)) == [#"g/beacon/keys/event={"event_type":"enter"}"#])
        #expect(texts(.presence(.inside, .enter)) == [], "a repetition")
        let exit = store.receive(.region("shop", .outside, .exit))
        #expect(exit.map(\.isRetained) == [false])
        store.disconnected()
        #expect(texts(.presence(.outside, .exit)) == [])
    }

    @Test("Without Home Assistant's devices, no enters and exits are published")
    func noEvents() {
        var store = Self.store(regions: ["shop"])
        store.connected()
        while !store.removeDue().isEmpty {}
        store.announcedOnline(at: 1)
        let messages = store.receive(.region("shop", .inside, .enter))
        #expect(messages.isEmpty)
    }

    private static func discovery(isEnabled: Bool) -> Discovery {
        Discovery(
            HomeAssistantSettings(isEnabled: isEnabled), broker: .test(port: 1, clientID: "gateway"),
            topics: TopicTree(base: "g"))
    }

    private static func store(
        regions: [NamedRegion] = [], beacons: [NamedBeacon] = [], isEnabled: Bool = false, isReady: Bool = true
    ) -> RetainedMessageStore {
        RetainedMessageStore(
            regions: regions, beacons: beacons, topics: TopicTree(base: "g"),
            discovery: discovery(isEnabled: isEnabled), isReady: isReady)
    }

    private static func removeDue(_ store: inout RetainedMessageStore) -> [String] {
        store.removeDue().map { "\($0.topic)=\($0.text)" }
    }

    private static func removeAllDue(_ store: inout RetainedMessageStore) -> [String] {
        var all: [String] = []
        while true {
            let due = removeDue(&store)
            if due.isEmpty { return all }
            all += due
        }
    }
}
