import BeaconModel
import BeaconSupport
import BrokerTestSupport
import Testing

@testable import BeaconMQTT

@Suite("Retained messages after renaming")
struct RenamingTests {
    private static let topics = TopicTree(base: "g")
    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)

    private static func discovery(places: [String] = []) -> Discovery {
        Discovery(
            HomeAssistantSettings(isEnabled: true), broker: .test(port: 1, clientID: "gateway"), topics: topics,
            places: places)
    }

    private static func store(places: [String] = []) -> RetainedMessageStore {
        var store = RetainedMessageStore(
            regions: ["shop", "attic"], beacons: [keys], topics: topics, discovery: discovery(places: places),
            options: MQTTStateSettings())
        store.connected()
        _ = store.receive(.region("shop", .inside))
        _ = store.receive(.region("attic", .outside))
        _ = store.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        _ = due(&store)
        return store
    }

    private static func due(_ store: inout RetainedMessageStore) -> [(topic: String, payload: String)] {
        var due: [(topic: String, payload: String)] = []
        while case let stage = store.removeDue(), !stage.isEmpty { due += stage.map { ($0.topic, $0.text) } }
        return due
    }

    @Test("A region's state is published under the new name before its device, and then the old one is deleted")
    func region() throws {
        var store = Self.store()
        store.configure(
            regions: ["store", "attic"], beacons: [Self.keys], discovery: Self.discovery(),
            renamed: RenamedItems(regions: ["shop": "store"]))
        let due = Self.due(&store)
        let state = try #require(due.firstIndex { $0.topic == "g/region/store/state" })
        #expect(due[state].payload == "inside")
        let device = try #require(due.firstIndex { $0.topic.hasPrefix("homeassistant/") && !$0.payload.isEmpty })
        let deleted = try #require(due.firstIndex { $0.topic == "g/region/shop/state" && $0.payload.isEmpty })
        #expect(state < device && device < deleted, "\(due)")
        // Unchanged items are not published.
        #expect(!due.contains { $0.topic.contains("attic") || $0.topic.contains("keys") }, "\(due)")
    }

    @Test("Two regions that swap their names swap their states")
    func exchanged() {
        var store = Self.store()
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(),
            renamed: RenamedItems(regions: ["shop": "attic", "attic": "shop"]))
        let due = Self.due(&store)
        #expect(due.contains { $0.topic == "g/region/attic/state" && $0.payload == "inside" }, "\(due)")
        #expect(due.contains { $0.topic == "g/region/shop/state" && $0.payload == "outside" }, "\(due)")
    }

    @Test("A beacon is identified by its identity")
    func beacon() throws {
        var store = Self.store()
        store.configure(
            regions: ["shop", "attic"], beacons: [NamedBeacon(name: "purse", identity: TestBeacon.keys)],
            discovery: Self.discovery())
        let due = Self.due(&store)
        let state = try #require(due.firstIndex { $0.topic == "g/beacon/purse/state" })
        #expect(due[state].payload.contains("present"), "\(due)")
        #expect(due.contains { $0.topic == "g/beacon/keys/state" && $0.payload.isEmpty }, "\(due)")
        #expect(!due.contains { $0.topic.contains("/region/") }, "\(due)")
    }

    @Test("A place's new name replaces the beacon's place, and no other value changes")
    func place() throws {
        var store = Self.store(places: ["hall", "kitchen"])
        _ = store.receive(
            .placed(
                PlaceEvent(
                    time: Timestamp(nanoseconds: 2_000_000_000), identity: TestBeacon.keys, state: .inside,
                    place: "hall", before: nil)))
        let before = try #require(Self.due(&store).last).payload
        #expect(before.contains(#""place":"hall""#))
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(places: ["foyer", "kitchen"]),
            renamed: RenamedItems(places: ["hall": "foyer"]))
        let after = try #require(Self.due(&store).first { $0.topic == "g/beacon/keys/state" })
        #expect(after.payload == before.replacing("hall", with: "foyer"))
    }
}
