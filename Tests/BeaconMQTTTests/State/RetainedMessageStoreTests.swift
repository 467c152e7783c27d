import BeaconModel
import Testing

@testable import BeaconMQTT

@Suite("The messages that a broker should retain")
struct RetainedMessageStoreTests {
    @Test("is the state of configured regions, as it is when it is published")
    func regions() {
        var store = Self.store(regions: ["shop", "a/b"])
        store.receive(.region("shop", .inside))
        store.receive(.region("a/b", .outside))
        store.receive(.region("other", .inside))
        #expect(store.removeDue() == [])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/a%2Fb/state=outside", "g/region/shop/state=inside"])
        #expect(Self.removeDue(&store) == [])
        store.receive(.region("shop", .inside))
        #expect(Self.removeDue(&store) == [])
        store.receive(.region("shop", .outside))
        store.receive(.region("shop", .unknown))
        #expect(Self.removeDue(&store) == ["g/region/shop/state=unknown"])
    }

    @Test("is said again after each connection, and nothing meanwhile")
    func connections() {
        var store = Self.store(regions: ["shop"])
        store.connected()
        store.receive(.region("shop", .inside))
        #expect(Self.removeDue(&store) == ["g/region/shop/state=inside"])
        store.disconnected()
        store.receive(.region("shop", .outside))
        #expect(Self.removeDue(&store) == [])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
        store.connected()
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
    }

    @Test("is tried again as it then is")
    func failure() {
        var store = Self.store(regions: ["shop"])
        store.connected()
        store.receive(.region("shop", .inside))
        let due = store.removeDue()
        store.receive(.region("shop", .outside))
        for message in due { store.failed(message) }
        #expect(Self.removeDue(&store) == ["g/region/shop/state=outside"])
    }

    @Test("is not what an earlier run left, unless it is configured still", arguments: [true, false])
    func leftovers(isEnabled: Bool) {
        var store = Self.store(
            regions: ["shop"], beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: isEnabled)
        store.connected()
        _ = store.removeDue()
        let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
        for topic in [
            "g/region/shop/state", "g/region/old/state", "g/region/old", "g/beacon/keys/state", "g/beacon/bag/state",
            "g/status", "gg/region/old/state", "other/region/old/state", device + "_2/config", device + "_3/config",
            "homeassistant/device/somebody/config", "homeassistant/sensor/x/config",
        ] {
            store.found(topic)
        }
        var gone: Set = ["g/region/old/state=", "g/region/old=", "g/beacon/bag/state=", device + "_3/config="]
        if !isEnabled { gone.insert(device + "_2/config=") }
        #expect(Set(Self.removeDue(&store)) == gone)
    }

    @Test("is a device of each named beacon, and of no other")
    func devices() {
        var store = Self.store(beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: true)
        store.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        store.receive(.presence(.inside, of: TestBeacon.bag, at: 1))
        store.receive(.ranged(1, identity: TestBeacon.bag, at: 2))
        store.connected()
        let topics = store.removeDue().map(\.topic)
        #expect(
            topics == [
                "g/beacon/keys/state", "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config",
            ])
        store.announceAgain()
        #expect(store.removeDue().map(\.topic) == Array(topics.suffix(1)))
    }

    @Test("is deleted of what is configured no longer, and keeps its state of what still is")
    func reconfigured() {
        let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
        var store = Self.store(regions: ["shop", "attic"], beacons: [keys], isEnabled: true)
        store.connected()
        store.receive(.region("shop", .inside))
        store.receive(.region("attic", .outside))
        store.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        _ = store.removeDue()
        let discovery = Discovery(
            HomeAssistantOptions(isEnabled: true), broker: .test(port: 1, clientID: "gateway"),
            topics: TopicTree(base: "g"))
        store.configure(
            regions: ["shop", "cellar"], beacons: [NamedBeacon(name: "bag", identity: TestBeacon.bag)],
            discovery: discovery)
        let due = Self.removeDue(&store)
        let device = "homeassistant/device/gateway_"
        let beacon = device + "e2c56db5dffb48d2b060d0f5a71096e0_1"
        #expect(
            due.map { String($0.prefix { $0 != "=" }) }.sorted() == [
                "g/beacon/keys/state", "g/region/attic/state", beacon + "_2/config", beacon + "_3/config",
                device + "region_attic/config", device + "region_cellar/config",
            ])
        #expect(due.filter { $0.hasSuffix("=") }.count == 4)
        // What is retained is said again after a connection: of what stayed, the state that it had.
        store.connected()
        #expect(
            Self.removeDue(&store).map { String($0.prefix(40)) }.contains("g/region/shop/state=inside"))
    }

    private static func store(
        regions: [String] = [], beacons: [NamedBeacon] = [], isEnabled: Bool = false
    ) -> RetainedMessageStore {
        let topics = TopicTree(base: "g")
        let discovery = Discovery(
            HomeAssistantOptions(isEnabled: isEnabled), broker: .test(port: 1, clientID: "gateway"), topics: topics)
        return RetainedMessageStore(
            regions: regions, beacons: beacons, topics: topics, discovery: discovery, options: MQTTStateOptions())
    }

    private static func removeDue(_ store: inout RetainedMessageStore) -> [String] {
        store.removeDue().map { "\($0.topic)=\($0.text)" }
    }
}
