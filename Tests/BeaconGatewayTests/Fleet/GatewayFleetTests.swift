import BeaconDelivery
import BeaconEngine
import BeaconFleet
import BeaconRadio
import BeaconSupport
import Foundation
import TestSupport
import Testing

@testable import BeaconGateway
@testable import BeaconModel
@testable import BeaconMonitoring

/// Gateways as machines of a fleet, each with a radio that a test writes, in virtual time.
@Suite("Gateways in a fleet")
struct GatewayFleetTests {
    @Test("What one hears all show, and one of them delivers; who moves to another machine has not left")
    func moves() async throws {
        let (hub, now) = FleetMachine.hub()
        let one = try FleetMachine("one", hub, now: now)
        let two = try FleetMachine("two", hub, now: now)
        try await FleetMachine.run([one, two]) { second in
            for _ in 0..<10 { await second([[7], []]) }
            // It goes to the other machine, and stays for longer than an exit time-out.
            for _ in 0..<50 { await second([[], [7]]) }
            for machine in [one, two] {
                let state = await machine.gateway.state(of: "hall")
                #expect(state == .inside)
                let mode = machine.runner.mode.withLock { $0 }
                #expect(
                    mode == .monitoring([GatewayBench.constraint.uuid]),
                    "a radio listens for what the fleet watches for")
            }
            for _ in 0..<45 { await second([[], []]) }
            for machine in [one, two] {
                let state = await machine.gateway.state(of: "hall")
                #expect(state == .outside)
            }
        }
        // One delivers, each change once.
        let notified = [one.bench.notified, two.bench.notified]
        #expect(notified.contains([]))
        let words = try #require(notified.first { !$0.isEmpty })
        #expect(words.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == ["enter hall", "exit hall"])
        #expect(words.first?.hasSuffix("one") == true && words.last?.hasSuffix("two") == true, "\(words)")
    }

    @Test("A beacon that is close to receivers of two machines at once is suspicious to all, and notified of once")
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

    @Test("A region that one console adds is watched for by all, and a rule stays with its machine")
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
            // Two of one name are refused, with the reason that a console shows.
            await #expect(throws: ItemChange.Failure.self) { try await one.member.change(.add(item)) }
            _ = try await one.member.change(.remove(.region, "door"))
            await second([[], []])
            let names = await two.gateway.regionValues.map(\.name)
            #expect(names == ["hall"])
        }
        #expect(ItemChange.remove(.region, "x").isShared && !ItemChange.remove(.rule, "x").isShared)
    }

    /// A fleet of one machine, and adverts of a beacon for so many seconds from now on.
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
        "What happened before messages were dropped, or the connection was lost, is told, in whatever order they come")
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
            // All of it is in the queue when the machine goes on, and then this.
            for loss in losses { machine.member.received.add(loss) }
            machine.isStopped = false
            await bench.pass(100)
            #expect(try bench.changes.map(\.kind) == ["enter", "exit"], "\(losses)")
        }
    }

    @Test(
        "What was decided by a configuration that a machine does not follow so far waits for it, and so does what comes after"
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
        // Somebody configures something, again and again, until the machine has come that far.
        var revision: UInt64 = 0
        while revision < 10_000 {
            let entry = try #require(try exchange.entry(.configuration))
            revision = try exchange.put(entry.value, for: .configuration, replacing: entry.revision)
        }
        await bench.pass(10)
        let labels = bench.audience.delivered.withLock { $0 }.filter { $0.content != .takeover }.map(\.worker)
        #expect(labels.first == "x" && labels.count >= 2)
    }

    @Test("Where the disk is full nothing is passed over: it is delivered once it can be kept")
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
        // Another machine takes over the duty, and delivers what the first could not.
        bench.kill("a")
        bench.audience.isWritable.withLock { $0 = true }
        try await bench.start("b")
        await bench.pass(30)
        #expect(kinds() == 1)
    }
}
