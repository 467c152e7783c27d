import BeaconModel
import BrokerTestSupport
import Foundation
import Testing

@testable import BeaconMQTT

@Suite("The occupancy of places")
struct PlaceBoardTests {
    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true)
    private static let bag = NamedBeacon(name: "bag", identity: TestBeacon.bag, occupies: true)
    private static let places: [NamedPlace] = ["hall", "kitchen"]

    /// A store whose published states of places are read.
    private struct Bench {
        var store: RetainedMessageStore
        private var retained: [String: String] = [:]

        init(_ beacons: [NamedBeacon] = [keys, bag], places: [NamedPlace] = places) {
            store = RetainedMessageStore(
                regions: [], beacons: beacons, topics: TopicTree(base: "g"), discovery: Self.discovery(places))
            store.connected()
        }

        /// Returns the state of a place: `on`, `off` or `unknown`, the number of beacons, and their names.
        mutating func state(of place: String = "hall") throws -> String {
            while case let due = store.removeDue(), !due.isEmpty {
                for message in due { retained[message.topic] = message.text }
            }
            let text = try #require(retained["g/place/\(place)/state"])
            let state = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(Set(state.keys) == ["beacons", "count", "hears", "occupied"], "\(text)")
            guard let isOccupied = state["occupied"] as? Bool else {
                #expect(state["count"] is NSNull && state["beacons"] is NSNull, "\(text)")
                return "unknown"
            }
            let names = try #require(state["beacons"] as? [String])
            return "\(isOccupied ? "on" : "off") \(state["count"] ?? "") \(names.prefix(3).joined(separator: ","))"
        }

        mutating func names(in place: String = "hall") throws -> [String] {
            let state = try JSONSerialization.jsonObject(
                with: Data(try #require(retained["g/place/\(place)/state"]).utf8))
            return try #require((state as? [String: Any])?["beacons"] as? [String])
        }

        /// Returns the number of due messages.
        mutating func drained() -> Int {
            var count = 0
            while case let due = store.removeDue(), !due.isEmpty { count += due.count }
            return count
        }

        mutating func configure(_ beacons: [NamedBeacon]) {
            store.configure(
                regions: [], beacons: beacons, discovery: Self.discovery(PlaceBoardTests.places),
                renamed: RenamedItems())
        }

        private static func discovery(_ places: [NamedPlace]) -> Discovery {
            Discovery(
                HomeAssistantSettings(), broker: .test(port: 1, clientID: "gateway"), topics: TopicTree(base: "g"),
                places: places)
        }

        mutating func hear(_ receivers: [String: Bool?]) {
            var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 1, waiting: 0)
            diagnostics.receivers = receivers.mapValues { .init(hears: $0, advertsPerMinute: 60) }
            store.receive(diagnostics, at: .now)
        }

        mutating func place(
            _ identity: BeaconIdentity = TestBeacon.keys, in place: String?, _ state: RegionState = .inside,
            before: String? = nil
        ) {
            let event = PlaceEvent(time: .at(1), identity: identity, state: state, place: place, before: before)
            _ = store.receive(.placed(event))
        }
    }

    @Test("A place is occupied while a beacon that counts is in it")
    func occupied() throws {
        var bench = Bench()
        #expect(try bench.state() == "unknown", "before the first diagnostics")
        bench.hear(["hall": true, "kitchen": true])
        #expect(try bench.state() == "unknown", "the beacons may be anywhere")
        bench.place(in: "hall")
        #expect(try bench.state() == "on 1 keys")
        #expect(try bench.state(of: "kitchen") == "unknown", "the bag may be there")
        bench.place(TestBeacon.bag, in: "hall")
        #expect(try bench.state() == "on 2 bag,keys")
        #expect(try bench.state(of: "kitchen") == "off 0 ")
        bench.place(in: "kitchen")
        #expect(try bench.state() == "on 1 bag")
        bench.place(TestBeacon.bag, in: nil, .outside)
        #expect(try bench.state() == "off 0 ")
        #expect(try bench.state(of: "kitchen") == "on 1 keys")
    }

    @Test("A place is unknown, and never empty, while none of its receivers hears, in any order of the messages")
    func dark() throws {
        for isPlaceFirst in [true, false] {
            var bench = Bench([Self.keys])
            bench.hear(["hall": true, "kitchen": true])
            bench.place(in: "hall")
            #expect(try bench.state() == "on 1 keys")
            for isFirst in [true, false] {
                if isFirst == isPlaceFirst {
                    bench.place(in: nil, .unknown, before: "hall")
                } else {
                    bench.hear(["hall": false, "kitchen": true])
                }
                #expect(try !bench.state().hasPrefix("off"))
            }
            #expect(try bench.state() == "unknown")
            #expect(try bench.state(of: "kitchen") == "off 0 ", "the beacon was not there")
            for isFirst in [true, false] {
                if isFirst == isPlaceFirst {
                    bench.hear(["hall": true, "kitchen": true])
                } else {
                    bench.place(in: "hall")
                }
                #expect(try !bench.state().hasPrefix("off"))
            }
            #expect(try bench.state() == "on 1 keys")
            // A receiver that is missing does not hear.
            bench.hear(["kitchen": true])
            #expect(try bench.state() == "unknown")
        }
    }

    @Test("One of several receivers is enough, and a receiver without a state decides nothing")
    func receivers() throws {
        var bench = Bench([Self.keys], places: [NamedPlace(name: "hall", receivers: ["a", "b"])])
        bench.place(in: nil, .outside)
        bench.hear(["a": false, "b": true])
        #expect(try bench.state() == "off 0 ")
        bench.hear(["a": false, "b": nil])
        #expect(try bench.state() == "unknown")
        bench.hear(["a": false, "b": false])
        #expect(try bench.state() == "unknown")
    }

    @Test("A beacon counts if it is a tracker, unless the configuration says otherwise")
    func counts() throws {
        let bag = TestBeacon.bag
        for (beacon, expected) in [
            (NamedBeacon(name: "bag", identity: bag), "off 0 "),
            (NamedBeacon(name: "bag", identity: bag, isTracker: true), "on 1 bag"),
            (NamedBeacon(name: "bag", identity: bag, isTracker: true, occupies: false), "off 0 "),
            (NamedBeacon(name: "bag", identity: bag, occupies: true), "on 1 bag"),
        ] {
            var bench = Bench([beacon])
            bench.hear(["hall": true])
            bench.place(bag, in: "hall")
            #expect(try bench.state() == expected)
        }
    }

    @Test("At most a hundred names are listed, and the number is the true one")
    func many() throws {
        let beacons = (0..<150).map {
            NamedBeacon(
                name: "beacon \($0)", identity: BeaconIdentity(uuid: TestBeacon.uuid, major: 7, minor: $0),
                occupies: true
            )
        }
        var bench = Bench(beacons)
        bench.hear(["hall": true])
        for beacon in beacons { bench.place(beacon.identity, in: "hall") }
        #expect(try bench.state() == "on 150 beacon 0,beacon 1,beacon 10")
        #expect(try bench.names().count == 100)
    }

    @Test("The names take at most 15 kB, because Home Assistant does not store larger attributes")
    func longNames() throws {
        let beacons = (0..<100).map {
            NamedBeacon(
                name: "\($0)" + String(repeating: "\"é", count: 100),
                identity: BeaconIdentity(uuid: TestBeacon.uuid, major: 7, minor: $0), occupies: true)
        }
        var bench = Bench(beacons)
        bench.hear(["hall": true])
        for beacon in beacons { bench.place(beacon.identity, in: "hall") }
        #expect(try bench.state().hasPrefix("on 100 "))
        let names = try bench.names()
        let options = JSONSerialization.WritingOptions.withoutEscapingSlashes
        let size = try JSONSerialization.data(withJSONObject: ["beacons": names], options: options).count
        #expect(size > 14_000 && size <= 15_100 && names.count < 100, "\(size)")
    }

    @Test("Only the states of places that a beacon enters, leaves or may be in are published")
    func published() throws {
        let places = (0..<300).map { NamedPlace(name: "room \($0)", receivers: ["r\($0)"]) }
        let beacons = (0..<50).map {
            NamedBeacon(
                name: "beacon \($0)", identity: BeaconIdentity(uuid: TestBeacon.uuid, major: 7, minor: $0),
                occupies: true)
        }
        var bench = Bench(beacons, places: places)
        bench.hear(Dictionary(uniqueKeysWithValues: places.map { ($0.receivers[0], true) }))
        for beacon in beacons { bench.place(beacon.identity, in: "room 1") }
        #expect(bench.drained() > 300)
        bench.place(beacons[0].identity, in: "room 2", before: "room 1")
        #expect(bench.drained() == 3, "the beacon and two places")
        bench.place(beacons[0].identity, in: nil, .outside, before: "room 2")
        #expect(bench.drained() == 2)
        // It may be in any empty place now.
        bench.place(beacons[0].identity, in: nil, .unknown)
        #expect(bench.drained() == 300)
        bench.place(beacons[1].identity, in: "room 2", before: "room 1")
        #expect(bench.drained() == 3)
    }

    @Test("A beacon that has no name any longer is forgotten, and one that gets a name may be anywhere")
    func renamedBeacons() throws {
        var bench = Bench([Self.keys, Self.bag])
        bench.hear(["hall": true, "kitchen": true])
        bench.place(in: "hall")
        bench.place(TestBeacon.bag, in: "hall")
        bench.configure([Self.bag])
        #expect(try bench.state() == "on 1 bag")
        bench.place(in: "kitchen")
        bench.configure([Self.keys, Self.bag])
        #expect(try bench.state() == "on 1 bag")
        #expect(try bench.state(of: "kitchen") == "unknown", "the keys may be there")
    }

    @Test("A place is unknown after a restart until the beacon that was last there is heard")
    func restored() throws {
        var bench = Bench([Self.keys])
        bench.place(in: nil, .unknown, before: "hall")
        bench.hear(["hall": true, "kitchen": true])
        #expect(try bench.state() == "unknown")
        #expect(try bench.state(of: "kitchen") == "off 0 ")
        bench.place(in: "kitchen", before: "hall")
        #expect(try bench.state() == "off 0 ")
    }

    @Test("A receiver's adverts are published at most once a minute, and only if they change by a fifth")
    func adverts() throws {
        var filter = ReceiverDiagnosticsFilter()
        let start = ContinuousClock.now
        func receive(_ hears: Bool?, _ adverts: Double, at seconds: Int) -> Bool {
            filter.receive(.init(hears: hears, advertsPerMinute: adverts), at: start.advanced(by: .seconds(seconds)))
        }
        #expect(receive(true, 100, at: 0))
        #expect(!receive(true, 300, at: 59))
        #expect(receive(true, 300, at: 60))
        #expect(!receive(true, 320, at: 200))
        #expect(receive(false, 0, at: 201), "deafness is published at once")
        let isMissing = filter.receive(nil, at: start.advanced(by: .seconds(300)))
        #expect(!isMissing && filter.published == .init(adverts: 0, hears: false))
    }
}
