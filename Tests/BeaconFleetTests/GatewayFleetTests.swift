import BeaconDelivery
import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

/// Gateways as machines of a fleet in virtual time, each with a scripted radio.
@Suite("Fleets: gateways")
struct GatewayFleetTests {
    @Test("All machines show the adverts of one, one machine delivers, and moving to another machine is not an exit")
    func moves() async throws {
        let (hub, now) = FleetMachine.hub()
        let one = try FleetMachine("one", hub, now: now)
        let two = try FleetMachine("two", hub, now: now)
        try await FleetMachine.run([one, two]) { second in
            for _ in 0..<10 { await second([[7], []]) }
            // The beacon moves to the other machine, and stays for longer than an exit timeout.
            for _ in 0..<50 { await second([[], [7]]) }
            for machine in [one, two] {
                let state = await machine.gateway.state(of: "hall")
                #expect(state == .inside)
                let mode = machine.runner.mode.withLock { $0 }
                #expect(
                    mode == .monitoring([GatewayBench.constraint.uuid]),
                    "a radio monitors the fleet's regions")
            }
            for machine in [one, two] {
                // Both radios are hci0, and a fleet's names begin with the machine (P2).
                let receivers = await machine.gateway.receiverValues.map(\.name)
                #expect(receivers == [machine.node])
            }
            for _ in 0..<45 { await second([[], []]) }
            for machine in [one, two] {
                let state = await machine.gateway.state(of: "hall")
                #expect(state == .outside)
            }
        }
        // One machine delivers each change once.
        let notified = [one.bench.notified, two.bench.notified]
        #expect(notified.contains([]))
        let words = try #require(notified.first { !$0.isEmpty })
        #expect(words.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == ["enter hall", "exit hall"])
        #expect(words.first?.hasSuffix("one") == true && words.last?.hasSuffix("two") == true, "\(words)")
    }

    @Test("A beacon close to receivers of two machines at once is suspicious everywhere, and notified once")
    func clone() async throws {
        let (hub, now) = FleetMachine.hub()
        var suspicions = SuspicionSettings()
        suspicions.positions = ["one": .init(x: 0, y: 0), "two": .init(x: 80, y: 0)]
        let one = try FleetMachine("one", hub, now: now, suspicions: suspicions)
        let two = try FleetMachine("two", hub, now: now, suspicions: suspicions)
        try await FleetMachine.run([one, two]) { second in
            for _ in 0..<40 { await second([[7], [7]]) }
            for machine in [one, two] {
                let mode = machine.runner.mode.withLock { $0 }
                #expect(mode == .ranging, "each advert counts")
            }
        }
        let notified = (one.bench.notified + two.bench.notified).map { $0.split(separator: " ")[0] }
        #expect(notified.sorted() == ["enter", "suspicious"])
        for machine in [one, two] {
            #expect(machine.bench.lines.all.filter { $0.contains("1/7 is heard close to") }.count == 1)
        }
    }

    @Test("All machines monitor a region that one console adds, and a rule stays on its machine")
    func changes() async throws {
        let (hub, now) = FleetMachine.hub()
        let one = try FleetMachine("one", hub, now: now)
        let two = try FleetMachine("two", hub, now: now, delivers: false)
        try await FleetMachine.run([one, two]) { second in
            let item = FleetBench.item(GatewayBench.region("door", minor: 9))
            _ = try await two.member.change(.add(item))
            await second([[], []])
            await second([[], [9]])
            for machine in [one, two] {
                let regions = await machine.gateway.regionValues.map { "\($0.name) \($0.state)" }
                #expect(regions == ["hall inside", "door inside"])
            }
            // Two items with the same name are refused, with the reason that the console shows.
            await #expect(throws: ItemChange.Failure.self) { try await one.member.change(.add(item)) }
            _ = try await one.member.change(.remove(.region, "door"))
            await second([[], []])
            let names = await two.gateway.regionValues.map(\.name)
            #expect(names == ["hall"])
        }
        #expect(ItemChange.remove(.region, "x").isShared && !ItemChange.remove(.rule, "x").isShared)
    }

    private static let house = SourceSettings(name: "house", specification: .file(path: "house.log"))

    @Test(
        "A place knows its receivers by their names in the fleet, at their machine only",
        arguments: [
            (GatewayBench.radio("radio", isNamed: false), ["hci0"], "one"),
            (GatewayBench.radio("radio", isNamed: true), ["hci0"], "one"),
            (GatewayBench.radio("radio", isNamed: true), ["hci0", "hci1"], "one/hci1"),
            (house, ["kitchen"], "one/kitchen"),
        ])
    func places(source: SourceSettings, receivers: [String], name: String) async throws {
        let (hub, now) = FleetMachine.hub()
        let one = try FleetMachine("one", hub, now: now, source: source, receivers: receivers)
        let two = try FleetMachine("two", hub, now: now)
        try await FleetMachine.run([one, two]) { second in
            let settings = JSONValue.object(["name": .string("Room"), "receivers": .array([.string(name)])])
            let item = ConfigurationItem(kind: .place, name: "Room", settings: settings, origin: .console)
            _ = try await two.member.change(.add(item))
            for _ in 0..<3 { await second([[7], []]) }
            #expect(await one.gateway.receiverDiagnostics.keys.contains(name))
            #expect(await !two.gateway.receiverDiagnostics.keys.contains(name))
            let placed = await one.gateway.receiverValues.filter { $0.place == "Room" }.map(\.name)
            #expect(placed == [name])
        }
    }

    @Test("A place with a receiver of another machine is no problem of this one")
    func otherReceivers() async throws {
        let (hub, now) = FleetMachine.hub()
        let one = try FleetMachine("one", hub, now: now)
        var plan = PlacePlan([PlacePlan.Place(name: "Room", receivers: ["one"])])
        var taught = TaughtMap()
        taught.add([["one": -60, "two/kitchen": -70]], to: "Room")
        plan.taught = taught
        let file = one.bench.configuration([], places: plan).withoutShared
        let consumer = try await one.bench.consumer(
            of: RuleEngine([], logger: one.bench.lines.logger), for: one.gateway)
        let health = GatewayHealth(
            one.gateway, consumer: consumer, delivery: nil, current: Locked(file), fleet: one.member)
        try await FleetMachine.run([one]) { second in
            for _ in 0..<3 { await second([[7]]) }
            #expect(await health.problems() == [])
        }
    }

    /// Returns a fleet of one machine, and a function for adverts of a beacon for a number of seconds from now on.
    private static func small() async throws -> (FleetBench, (Int) -> ArraySlice<FleetBench.Heard>) {
        let bench = FleetBench(
            regions: [GatewayBench.region("hall")], receivers: ["w"],
            begin: Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
        try await bench.start("a")
        await bench.pass(6)
        return (
            bench,
            { seconds in
                (1...2 * seconds).map {
                    FleetBench.Heard(
                        time: bench.now.withLock { $0 }.advanced(by: Int64($0) * FleetBench.second / 2), receiver: 0,
                        sighting: Sighting(
                            time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .random),
                            identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1),
                            measuredPower: -59, rssi: SignalStrength(rawValue: -60)))
                }[...]
            }
        )
    }

    @Test(
        "Changes before dropped messages or a lost connection are reported, in any order of arrival")
    func dropped() async throws {
        for losses in [
            [FleetMessageQueue.Item.Content.dropped(partition: nil)], [.lost("it was cut off"), .connected],
            [.lost("it was cut off"), .connected, .dropped(partition: nil)],
        ] {
            let (bench, hear) = try await Self.small()
            let machine = try #require(bench.machine("a"))
            machine.isStopped = true
            var heard = hear(3)
            await bench.pass(to: bench.now.withLock { $0 }.advanced(by: 3 * FleetBench.second), hearing: &heard)
            // All items are in the queue when the machine resumes, followed by this.
            for loss in losses { machine.member.received.add(loss) }
            machine.isStopped = false
            await bench.pass(100)
            #expect(try bench.changes.map(\.kind) == ["enter", "exit"], "\(losses)")
        }
    }

    @Test(
        "A change decided with a newer configuration waits for that configuration, and so do later changes"
    )
    func newerConfiguration() async throws {
        let (bench, hear) = try await Self.small()
        let exchange = LocalExchange(bench.hub)
        let known = try #require(try exchange.lastMessage(of: 0))
        let change = FleetTransition.Region(
            label: "region hall", beacons: GatewayBench.constraint, kind: "enter", state: .inside, before: .outside,
            receiver: nil, beacon: nil)
        let early = FleetTransition(
            partition: 0, epoch: 0, number: 1, worker: "x", configuration: 10_000, time: 0, content: .region(change))
        _ = try exchange.append(try early.encoded(), to: 0, id: "early", after: known.sequence)
        var heard = hear(5)
        await bench.pass(to: bench.now.withLock { $0 }.advanced(by: 10 * FleetBench.second), hearing: &heard)
        let reported = { bench.audience.delivered.withLock { $0 } + bench.audience.shown.withLock { $0 } }
        #expect(reported().allSatisfy { $0.content == .takeover })
        let entry = try #require(try exchange.entry(.configuration))
        var newer = try FleetConfiguration(entry.value)
        newer.revision = 10_000
        _ = try exchange.put(try newer.encoded(), for: .configuration, replacing: entry.revision)
        await bench.pass(10)
        let labels = bench.audience.delivered.withLock { $0 }.filter { $0.content != .takeover }.map(\.worker)
        #expect(labels.first == "x" && labels.count >= 2)
    }

    @Test("A full disk skips no change: changes are delivered once they can be stored")
    func full() async throws {
        let bench = FleetBench(
            regions: [GatewayBench.region("hall")], receivers: ["w"],
            begin: Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
        try await bench.start("a")
        await bench.pass(6)
        bench.audience.isWritable.withLock { $0 = false }
        var heard = bench.adverts(40)
        await bench.pass(to: bench.now.withLock { $0 }.advanced(by: 30 * FleetBench.second), hearing: &heard)
        #expect(try bench.changes.map(\.kind) == ["enter"])
        let kinds = { bench.audience.delivered.withLock { $0 }.filter { $0.content != .takeover }.count }
        #expect(kinds() == 0)
        // Another machine takes over, and delivers the changes that the first could not.
        bench.kill("a")
        bench.audience.isWritable.withLock { $0 = true }
        try await bench.start("b")
        await bench.pass(30)
        #expect(kinds() == 1)
    }
}
