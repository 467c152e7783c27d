import BeaconModel
import BrokerTestSupport
import Foundation
import Testing

@testable import BeaconMQTT

@Suite("The occupancy of places")
struct PlaceBoardTests {
    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true)
    private static let bag = NamedBeacon(name: "bag", identity: TestBeacon.bag, counts: true)
    private static let places: [NamedPlace] = ["hall", "kitchen"]

    /// A store whose published states of places are read.
    private struct Bench {
        var store: RetainedMessageStore
        private var retained: [String: String] = [:]

        init(_ beacons: [NamedBeacon] = [keys, bag], places: [NamedPlace] = places) {
            let topics = TopicTree(base: "g")
            store = RetainedMessageStore(
                regions: [], beacons: beacons, topics: topics,
                discovery: Discovery(
                    HomeAssistantSettings(), broker: .test(port: 1, clientID: "gateway"), topics: topics,
                    places: places),
                options: MQTTStateSettings())
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
            (NamedBeacon(name: "bag", identity: bag, isTracker: true, counts: false), "off 0 "),
            (NamedBeacon(name: "bag", identity: bag, counts: true), "on 1 bag"),
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
                name: "beacon \($0)", identity: BeaconIdentity(uuid: TestBeacon.uuid, major: 7, minor: $0), counts: true
            )
        }
        var bench = Bench(beacons)
        bench.hear(["hall": true])
        for beacon in beacons { bench.place(beacon.identity, in: "hall") }
        #expect(try bench.state() == "on 150 beacon 0,beacon 1,beacon 10")
        var board = PlaceBoard(Self.places, beacons)
        board.setHearing(["hall": true])
        for beacon in beacons {
            board.receive(
                PlaceEvent(time: .at(1), identity: beacon.identity, state: .inside, place: "hall", before: nil))
        }
        #expect(board.state(of: "hall").beacons?.count == 100)
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
