import BeaconModel
import BeaconSupport
import BrokerTestSupport
import Testing

@testable import BeaconMQTT

@Suite("Retained messages after renaming")
struct RenamingTests {
    private static let topics = TopicTree(base: "g")
    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)

    private static func discovery(places: [NamedPlace] = []) -> Discovery {
        Discovery(
            HomeAssistantSettings(isEnabled: true), broker: .test(port: 1, clientID: "gateway"), topics: topics,
            places: places)
    }

    private static func store(places: [NamedPlace] = []) -> RetainedMessageStore {
        var store = RetainedMessageStore(
            regions: ["shop", "attic"], beacons: [keys], topics: topics, discovery: discovery(places: places))
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

    private static func placed(_ state: RegionState, _ place: String?, at seconds: Double) -> BeaconEvent {
        .placed(PlaceEvent(time: .at(seconds), identity: TestBeacon.keys, state: state, place: place, before: nil))
    }

    @Test("A place's new name replaces the beacon's place, which is unknown while the list of places changes")
    func place() throws {
        var store = Self.store(places: ["hall", "kitchen"])
        _ = store.receive(Self.placed(.inside, "hall", at: 2))
        let before = try #require(Self.due(&store).last).payload
        #expect(before.contains(#""place":"hall""#))
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(places: ["foyer", "kitchen"]),
            renamed: RenamedItems(places: ["hall": "foyer"]))
        let due = Self.due(&store)
        let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config"
        let messages = due.filter { $0.topic == device || $0.topic == "g/beacon/keys/state" }
        try #require(messages.map(\.topic) == ["g/beacon/keys/state", device, "g/beacon/keys/state"], "\(due)")
        #expect(messages[0].payload == before.replacing("\"hall\"", with: "null"))
        #expect(messages[2].payload == before.replacing("hall", with: "foyer"))
        // A beacon in another place needs no unknown place.
        _ = store.receive(Self.placed(.inside, "kitchen", at: 3))
        _ = Self.due(&store)
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(places: ["hall", "kitchen"]),
            renamed: RenamedItems(places: ["foyer": "hall"]))
        #expect(!Self.due(&store).contains { $0.topic == "g/beacon/keys/state" })
    }

    @Test("A beacon in a removed place has no place before the announcement without it", arguments: [true, false])
    func removedPlace(isMoved: Bool) throws {
        var store = Self.store(places: ["hall", "kitchen"])
        _ = store.receive(Self.placed(.inside, "hall", at: 2))
        _ = Self.due(&store)
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(places: ["kitchen"]))
        if isMoved { _ = store.receive(Self.placed(.inside, "kitchen", at: 3)) }
        let due = Self.due(&store).filter { $0.topic == "g/beacon/keys/state" || $0.topic.hasSuffix("_1_2/config") }
        #expect(due.map { $0.topic.hasSuffix("config") } == [false, true], "\(due)")
        #expect(due[0].payload.contains(isMoved ? #""place":"kitchen""# : #""place":null"#), "\(due)")
        // No later message brings it back.
        _ = store.receive(.presence(.outside, of: TestBeacon.keys, at: 4))
        #expect(!Self.due(&store).contains { $0.payload.contains("hall") })
    }

    @Test("A beacon that enters a new place is unknown until the announcement with it, even if it has a new name")
    func newPlace() throws {
        var store = Self.store(places: ["hall"])
        _ = store.receive(Self.placed(.inside, "hall", at: 2))
        _ = Self.due(&store)
        store.configure(
            regions: ["shop", "attic"], beacons: [NamedBeacon(name: "purse", identity: TestBeacon.keys)],
            discovery: Self.discovery(places: ["hall", "study"]))
        _ = store.receive(Self.placed(.inside, "study", at: 3))
        let due = Self.due(&store).filter { $0.topic == "g/beacon/purse/state" || $0.topic.hasSuffix("_1_2/config") }
        try #require(due.map { $0.topic.hasSuffix("config") } == [false, true, false], "\(due)")
        #expect(due[0].payload.contains(#""place":null"#), "\(due)")
        #expect(due[2].payload.contains(#""place":"study""#), "\(due)")
        // Now the announcement has it.
        _ = store.receive(Self.placed(.inside, "hall", at: 4))
        _ = store.receive(Self.placed(.inside, "study", at: 5))
        #expect(Self.due(&store).map(\.payload).count { $0.contains("study") } == 1)
    }

    @Test("A renamed place keeps its device and its state, and its old topic is emptied last")
    func placeDevice() throws {
        var store = Self.store(places: ["hall", "kitchen"])
        var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 1, waiting: 0)
        diagnostics.receivers = ["hall": .init(hears: true, advertsPerMinute: 60)]
        store.receive(diagnostics, at: .now)
        _ = Self.due(&store)
        var foyer: NamedPlace = "hall"
        foyer.name = "foyer"
        store.configure(
            regions: ["shop", "attic"], beacons: [Self.keys], discovery: Self.discovery(places: [foyer, "kitchen"]),
            renamed: RenamedItems(places: ["hall": "foyer"]))
        let due = Self.due(&store)
        let state = try #require(due.firstIndex { $0.topic == "g/place/foyer/state" })
        #expect(due[state].payload == #"{"beacons":[],"count":0,"hears":true,"occupied":false}"#)
        let device = try #require(
            due.firstIndex { $0.topic == "homeassistant/device/gateway_place_hall/config" && !$0.payload.isEmpty })
        #expect(due[device].payload.contains(#""name":"foyer""#))
        let deleted = try #require(due.firstIndex { $0.topic == "g/place/hall/state" && $0.payload.isEmpty })
        #expect(state < device && device < deleted, "\(due)")
        #expect(!due.contains { $0.topic.hasPrefix("g/place/kitchen") || $0.topic.hasPrefix("g/receiver/") }, "\(due)")
    }
}
