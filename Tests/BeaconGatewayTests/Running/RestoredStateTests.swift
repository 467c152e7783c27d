import BeaconDelivery
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway
@testable import BeaconMQTT

/// The states that destinations get without a change: at a start, from a fleet, for a new name, and after a reload.
@Suite("Restored states")
struct RestoredStateTests {
    private static let plan = PlacePlan([
        PlacePlan.Place(name: "hall", receivers: ["a"]), PlacePlan.Place(name: "kitchen", receivers: ["b"]),
    ])
    private static let keys = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1)
    private static let cat = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 2)

    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    /// Returns what Home Assistant shows after the events of a bench: the tracker and the presence of the keys, and the
    /// occupancy of the hall and the kitchen.
    private static func shown(_ bench: GatewayBench) throws -> [String] {
        let topics = TopicTree(base: "g")
        var store = RetainedMessageStore(
            regions: [], beacons: [NamedBeacon(name: "keys", identity: keys, isTracker: true)], topics: topics,
            discovery: Discovery(
                HomeAssistantSettings(), broker: MQTTSettings(host: "localhost"), topics: topics,
                places: [NamedPlace(name: "hall", receivers: ["a"]), NamedPlace(name: "kitchen", receivers: ["b"])]),
            isReady: false)
        for event in bench.received.withLock({ $0 }) { _ = store.receive(event) }
        var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 1, waiting: 0)
        diagnostics.receivers = [
            "a": .init(hears: true, advertsPerMinute: 1), "b": .init(hears: true, advertsPerMinute: 1),
        ]
        store.receive(diagnostics, at: .now)
        store.restored()
        store.connected()
        var retained: [String: [String: Any]] = [:]
        while case let due = store.removeDue(), !due.isEmpty {
            for message in due {
                retained[message.topic] =
                    try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
            }
        }
        let beacon = try #require(retained["g/beacon/keys/state"])
        func text(_ value: Any?) -> String {
            value as? String ?? (value as? Bool).map { $0 ? "on" : "off" } ?? "unknown"
        }
        return [text(beacon["tracker"]), text(beacon["presence"])]
            + ["hall", "kitchen"].map { text(retained["g/place/\($0)/state"]?["occupied"]) }
    }

    /// Returns a gateway of a fleet that follows a configuration with a named beacon and two places.
    private static func fleetGateway(_ bench: GatewayBench, restorationTime: Duration = .seconds(600)) async -> Gateway
    {
        let exchange = LocalExchange(LocalExchange.Hub(now: FleetMember.Clock.system.now))
        var configuration = bench.configuration([], regions: [], places: plan)
        configuration.beacons = [BeaconSettings(name: "keys", identity: keys, isTracker: true)]
        let gateway = bench.gateway(
            [],
            fleet: FleetLink(
                settings: FleetSettings(), exchange: exchange,
                restorationTime: restorationTime),
            configuration: configuration.withoutShared)
        await gateway.follow(configuration, FleetPartitions([BeaconConstraint(keys)], count: 1))
        return gateway
    }

    @Test(
        "A machine of a fleet shows the states that the fleet has, and a tracker keeps its state while nobody hears",
        arguments: [
            (RegionState.inside, RegionState.inside, "hall", false, ["home", "present", "on", "off"]),
            (.inside, .unknown, "hall", true, ["home", "unknown", "unknown", "off"]),
            (.inside, .inside, nil, false, ["home", "present", "off", "off"]),
            (.inside, .inside, nil, true, ["home", "present", "unknown", "unknown"]),
            (.outside, .outside, nil, false, ["not_home", "absent", "off", "off"]),
            (.outside, .unknown, nil, true, ["not_home", "unknown", "unknown", "unknown"]),
            (.unknown, .unknown, "kitchen", true, ["unknown", "unknown", "off", "unknown"]),
        ] as [(RegionState, RegionState, String?, Bool, [String])])
    func fleet(
        known: RegionState, published: RegionState, place: String?, isPlaceUnknown: Bool, expected: [String]
    ) async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let gateway = await Self.fleetGateway(bench)
        bench.received.withLock { $0 = [] }
        await gateway.restore(
            FleetRegionState(
                label: ConditionOwner.beacon("keys").label, beacons: BeaconConstraint(Self.keys), state: known,
                published: published, since: 0, sequence: 1))
        let state = FleetPlaceState(
            beacon: BeaconConstraint(Self.keys), place: place, isUnknown: isPlaceUnknown, sequence: 2)
        // As another machine reads it.
        await gateway.restore(try JSONDecoder().decode(FleetPlaceState.self, from: try JSONEncoder().encode(state)))
        #expect(bench.restorations.withLock { $0 } == [], "the states are not complete")
        #expect(try Self.shown(bench) == expected)
        await gateway.restored()
        await gateway.restored()
        #expect(bench.restorations.withLock { $0 }.count == 1)
        let places = await gateway.knownPlaces()
        #expect(places.map(\.place) == [place] && places.map(\.published) == [state.published])
    }

    @Test("A machine that cannot reach its fleet ends the wait for the states after a while")
    func unreachable() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let gateway = await Self.fleetGateway(bench, restorationTime: .milliseconds(1))
        let run = Task { await gateway.run() }
        try await eventually("the wait has ended") { bench.restorations.withLock { $0 } == [0] }
        #expect(bench.lines.all.contains { $0.contains("cannot read the fleet's states") })
        await gateway.stop()
        run.cancel()
    }

    /// Returns a log with a beacon in a place for a minute.
    private static func log(_ receiver: String, minor: Int = 1, seconds: Int = 60, from start: Double = 1000) -> String
    {
        (0..<2 * seconds).map { half in
            let time = start + Double(half) / 2
            return GatewayBench.line(time, minor: minor, receiver: receiver, rssi: -60)
                + GatewayBench.line(time + 0.1, minor: 9, receiver: receiver == "a" ? "b" : "a", rssi: -60)
        }.joined()
    }

    @Test("A beacon that has left a stricter region, even one of its name, is present", arguments: ["desk", "keys"])
    func stricterRegion(name: String) async throws {
        let bench = try GatewayBench()
        var region = GatewayBench.region(name, minor: 1)
        (region.region.minimumRSSI, region.region.exitRSSI) = (-65, -65)
        let lines = (0..<240).map { half in
            GatewayBench.line(1000 + Double(half) / 2, minor: 1, receiver: "a", rssi: half < 40 ? -60 : -75)
        }
        let source = try bench.log("log", lines.joined())
        var configuration = bench.configuration([source], regions: [region], places: Self.plan)
        configuration.beacons = [BeaconSettings(name: "keys", identity: Self.keys, isTracker: true)]
        // A broker shows the presence of named beacons.
        configuration.destinations = [DestinationSettings(name: "test", kind: .mqtt(BrokerSettings()))]
        let gateway = bench.gateway([source], configuration: configuration)
        await gateway.run()
        #expect(bench.words.contains { $0.hasPrefix("exit \(name) outside") })
        #expect(try Self.shown(bench).prefix(2) == ["home", "present"])
        // A new destination gets the states, in the order of their conditions.
        bench.received.withLock { $0 = [] }
        let destination = ConfiguredDestination(Destination(name: "test", sink: NoSink())) { event in
            bench.received.withLock { $0.append(event) }
        }
        await gateway.reload(
            GatewayReload(
                base: configuration, configuration: configuration, destinations: [destination], renewed: ["test"]))
        #expect(try Self.shown(bench).prefix(2) == ["home", "present"])
    }

    @Test("Destinations get the place of a beacon when it is named, not only when it moves")
    func named() async throws {
        let bench = try GatewayBench()
        let source = try bench.log("log", Self.log("a"))
        let gateway = bench.gateway([source], places: Self.plan)
        await gateway.run()
        bench.received.withLock { $0 = [] }
        var configuration = bench.configuration([source], places: Self.plan)
        configuration.beacons = [
            BeaconSettings(name: "keys", identity: Self.keys, isTracker: true),
            BeaconSettings(name: "cat", identity: Self.cat),
        ]
        await gateway.apply(configuration)
        #expect(try Self.shown(bench).suffix(2) == ["on", "off"])
        // A beacon that was named before is not reported again.
        bench.received.withLock { $0 = [] }
        await gateway.apply(configuration)
        #expect(!bench.received.withLock { $0 }.contains { if case .placed = $0 { true } else { false } })
    }

    @Test("A new destination gets the present places: unknown for a beacon that was not heard since the start")
    func introduced() async throws {
        let bench = try GatewayBench()
        await bench.gateway([try bench.log("log", Self.log("b"))], places: Self.plan).run()
        // Only another beacon is heard after the restart.
        for (minor, expected) in [(7, "unknown kitchen"), (1, "inside kitchen")] {
            let source = try bench.log("log \(minor)", Self.log("b", minor: minor, seconds: 5, from: 2000))
            let gateway = bench.gateway([source], places: Self.plan)
            await gateway.run()
            let received = Locked<[BeaconEvent]>([])
            let destination = ConfiguredDestination(Destination(name: "new", sink: NoSink())) { event in
                received.withLock { $0.append(event) }
            }
            let configuration = bench.configuration([source], places: Self.plan)
            await gateway.reload(
                GatewayReload(
                    base: configuration, configuration: configuration, destinations: [destination], renewed: ["new"]))
            let places = received.withLock { $0 }.compactMap { event -> String? in
                guard case .placed(let change) = event, change.identity == Self.keys else { return nil }
                return "\(change.state) \(change.place ?? change.before ?? "-")"
            }
            #expect(places == [expected])
        }
    }
}
