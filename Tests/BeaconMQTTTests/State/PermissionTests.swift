import BeaconDelivery
import BeaconModel
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

@testable import BeaconMQTT

/// A broker may grant a subscription and then send nothing, because an access list forbids reading.
@Suite("The permission to read retained messages", .fewAtATime)
struct PermissionTests {
    private static let messages = [
        "region": "g/region/shop/state", "beacon": "g/beacon/keys/state", "gateway": "g/gateway/state",
        "discovery": "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config",
    ]
    private static let filters = [
        "beacon": "g/beacon/#", "discovery": "homeassistant/device/+/config", "gateway": "g/gateway/#",
        "region": "g/region/#",
    ]

    private static let topics = TopicTree(base: "g")
    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
    private static let discovery = Discovery(
        HomeAssistantSettings(), broker: .test(port: 1, clientID: "gateway"), topics: topics)

    private static func store() -> RetainedMessageStore {
        RetainedMessageStore(
            regions: ["shop"], beacons: [keys], topics: topics, discovery: discovery)
    }

    /// Every set of groups that the broker returns.
    static let readable: [[String]] = (0..<16).map { bits in
        filters.keys.sorted().enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    }

    @Test("Exactly the groups that the broker does not return are reported, once", arguments: readable)
    func groups(readable: [String]) {
        var store = Self.store()
        let expected = Self.filters.filter { !readable.contains($0.key) }
        for attempt in 0..<3 as Range<UInt64> {
            store.connected(as: attempt)
            while !store.removeDue().isEmpty {}
            // Before the broker has all messages, a missing one proves nothing.
            #expect(store.unproven.isEmpty)
            #expect(store.takeUnread().isEmpty)
            store.announcedOnline(at: attempt)
            #expect(store.unproven.keys.sorted() == Self.filters.values.sorted())
            for group in readable { store.found(Self.messages[group] ?? "") }
            #expect(store.unproven == Dictionary(uniqueKeysWithValues: expected.map { ($1, Self.messages[$0] ?? "") }))
            store.configure(regions: ["shop"], beacons: [Self.keys], discovery: Self.discovery)
            #expect(store.takeUnread() == (attempt == 0 ? expected.values.sorted() : []))
            store.disconnected()
            #expect(store.unproven.isEmpty)
        }
    }

    @Test("A message of an earlier run is a proof, and a message of another program is none")
    func proofs() {
        var store = Self.store()
        store.connected(as: 1)
        while !store.removeDue().isEmpty {}
        store.announcedOnline(at: 1)
        for topic in ["g/region/old/state", "homeassistant/device/somebody/config", "g/status"] { store.found(topic) }
        #expect(Set(store.unproven.keys) == ["g/beacon/#", "g/gateway/#", "homeassistant/device/+/config"])
    }

    /// An access list, and the lines of the remedy.
    static let lists: [(list: String, lines: String, version: MQTTVersion?)] = [
        ("topic write #", "topic readwrite beacond/hall/#, topic readwrite homeassistant/device/+/config", nil),
        ("topic write #", "topic readwrite beacond/hall/#, topic readwrite homeassistant/device/+/config", .v3_1_1),
        (
            "topic readwrite beacond/hall/#\ntopic write homeassistant/#",
            ": topic readwrite homeassistant/device/+/config", nil
        ),
        ("topic readwrite homeassistant/#\ntopic write beacond/hall/#", ": topic readwrite beacond/hall/#", .v3_1_1),
        // With MQTT 3.1.1 a broker acknowledges messages that the user may not write.
        (
            "topic read #\ntopic readwrite homeassistant/#\ntopic write beacond/hall/status",
            ": topic readwrite beacond/hall/#", .v3_1_1
        ),
    ]

    @Test("A missing permission at Debian's broker is one warning, with the lines of the access list", arguments: lists)
    func broker(list: String, lines: String, version: MQTTVersion?) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("acl").path
        try (list + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let broker = try await Broker("allow_anonymous true\nacl_file \(file)", in: folder)
        let lines = (expected: lines, log: LogLines())
        let sink = try MQTTSink(
            .test(port: broker.port, version: version), regions: ["shop"],
            beacons: [Self.keys], homeAssistant: HomeAssistantSettings(),
            logger: lines.log.logger)
        try await running(sink.run) {
            try await eventually("the warning") { lines.log.all.contains { $0.contains("does not return") } }
        }
        #expect(lines.log.all.contains { $0.hasPrefix("warning: ") && $0.contains(lines.expected) }, "\(lines.log.all)")
    }
}
