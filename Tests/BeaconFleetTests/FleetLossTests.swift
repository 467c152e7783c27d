import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconFleet
@testable import BeaconGateway
@testable import BeaconModel
@testable import BeaconMonitoring

extension LocalExchange.Hub {
    /// The parts of the servers' data. NATS stores each in its own stream, so each can be lost alone.
    struct Parts: OptionSet {
        let rawValue: Int
        static let log = Parts(rawValue: 1)
        static let leases = Parts(rawValue: 2)
        static let entries = Parts(rawValue: 4)
        static let all: Parts = [.log, .leases, .entries]
    }

    var copy: State { state.withLock { $0 } }

    /// Replaces parts of the data by those of an older copy, or by nothing.
    func replace(_ parts: Parts, by copy: State = State()) {
        state.withLock { state in
            if parts.contains(.log) { (state.log, state.last, state.ids) = (copy.log, copy.last, copy.ids) }
            for kind in Set(state.entries.keys).union(copy.entries.keys)
            where parts.contains(kind.expires ? .leases : .entries) {
                state.entries[kind] = copy.entries[kind]
            }
            if parts == .all { state.revision = copy.revision }
        }
    }

    /// Removes the messages of the log after a number.
    func cutLog(after count: Int) {
        var copy = State()
        for (index, message) in self.copy.log.prefix(count).enumerated() {
            copy.log.append(message)
            copy.last[message.partition] = UInt64(index + 1)
            copy.ids[message.id] = UInt64(index + 1)
        }
        replace(.log, by: copy)
    }
}

/// Fleets whose servers lose data: all of it, the end of the log, or one of their stores. Machines run, are cut off, or
/// start afterwards.
@Suite("Fleets: lost data of servers")
struct FleetLossTests {
    /// A fleet with regions of one beacon each.
    private struct World {
        static let regions = (UInt16(1)...5).map { GatewayBench.region("door \($0)", minor: $0) }
        let bench = FleetBench(
            regions: World.regions, receivers: ["w"], begin: Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
        let nodes: [String]

        init(_ count: Int) async throws {
            nodes = Array(["a", "b", "c"].prefix(count))
            for node in nodes { try await bench.start(node) }
            await bench.pass(8)
        }

        /// Passes time while beacons are heard.
        func pass(_ seconds: Int, hearing minors: [UInt16] = []) async {
            let start = bench.now.withLock { $0 }
            var heard = (0..<2 * seconds).flatMap { step in
                minors.map { minor in
                    FleetBench.Heard(
                        time: start.advanced(by: Int64(step) * FleetBench.second / 2 + 1), receiver: 0,
                        sighting: Sighting(
                            time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .random),
                            identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: minor),
                            measuredPower: -59, rssi: SignalStrength(rawValue: -60)))
                }
            }[...]
            await bench.pass(to: start.advanced(by: Int64(seconds) * FleetBench.second), hearing: &heard)
        }

        func setLinked(_ linked: Bool) { for machine in bench.machines { machine.exchange.setLinked(linked) } }

        /// The delivered enters and exits, such as "enter door 1". Repetitions with the same id are left out.
        var delivered: [String] {
            var ids: Set<EventID> = []
            return bench.audience.delivered.withLock { $0 }.compactMap { transition in
                guard case .region(let change) = transition.content, change.kind != "state",
                    ids.insert(transition.eventID(in: FleetBench.settings.name)).inserted
                else { return nil }
                return "\(change.kind) \(change.label.dropFirst(7))"
            }
        }

        /// Checks that all machines agree, and that each change of the log is delivered, and is in each history once.
        func check(since old: Set<EventID>, shownBy running: [FleetBench.Machine], _ words: Comment) async throws {
            let fleet = FleetBench.settings.name
            let events = try bench.log.filter { $0.content != .takeover }
            let new = events.filter { !old.contains($0.eventID(in: fleet)) }
            let delivered = bench.audience.delivered.withLock { $0.map { $0.eventID(in: fleet) } }
            // Delivery is at least once: the machine that delivered during the loss may lose that duty to another.
            for event in new {
                let count = delivered.count { $0 == event.eventID(in: fleet) }
                #expect((1...2).contains(count), "\(event), \(words)")
            }
            for machine in bench.machines {
                let history = machine.audience.history.events.withLock { $0 }
                for event in new { #expect(history[event.eventID(in: fleet)] == event, "\(machine.node), \(words)") }
            }
            for machine in running {
                let shown = machine.audience.shown.withLock { $0 }
                for event in new {
                    #expect(shown.count { $0 == event.eventID(in: fleet) } == 1, "\(machine.node) \(event), \(words)")
                }
            }
            let last = UInt64(bench.hub.copy.log.count)
            let entry = try #require(try LocalExchange(bench.hub).entry(.configuration), words)
            let configuration = try FleetConfiguration(entry.value)
            for machine in bench.machines {
                #expect(await machine.member.followed == last, words)
                #expect(await machine.member.shared == configuration, words)
                #expect(await machine.member.items.count == Self.regions.count, words)
            }
        }

        /// The ids of all changes that a machine has shown or delivered.
        var known: Set<EventID> {
            Set(bench.histories.values.flatMap { $0.events.withLock { Array($0.keys) } })
        }
    }

    /// Lets beacons enter and leave. Returns copies of the servers' data with the number of the log's messages.
    private static func begin(_ world: World) async -> [LocalExchange.Hub.State] {
        var copies = [LocalExchange.Hub.State()]
        let steps: [[UInt16]] = [[1], [1, 2], [2], [2], [2], [2, 4], [2, 4]]
        for minors in steps {
            await world.pass(8, hearing: minors)
            copies.append(world.bench.hub.copy)
        }
        return copies
    }

    /// Lets a beacon leave that was there before the loss, and others enter, and checks all changes.
    private static func end(
        _ world: World, since old: Set<EventID>, before: [String], shownBy running: [FleetBench.Machine],
        keepsPresence: Bool, _ words: Comment
    ) async throws {
        await world.pass(15, hearing: [2, 3])
        await world.pass(45, hearing: [1, 3])
        try await world.check(since: old, shownBy: running, words)
        let changes = Array(world.delivered.dropFirst(before.count))
        if keepsPresence {
            #expect(changes.sorted() == ["enter door 1", "enter door 3", "exit door 2", "exit door 4"], words)
        } else {
            // The presence is that of the older copy, or determined again.
            #expect(changes.contains("enter door 3"), "\(changes) \(words)")
        }
    }

    @Test(
        "If servers lose data while machines run, each later change is shown once and delivered, and the loss is noticed",
        arguments: 1...3, [0, 20])
    func running(machines: Int, outage: Int) async throws {
        let losses: [LocalExchange.Hub.Parts] = [.all, .log, .leases, .entries, [.log, .leases], [.log, .entries]]
        for parts in losses {
            // The first copy is empty: all data is lost.
            for number in outage > 0 ? [0, 5] : [0, 2, 4, 6] {
                let words: Comment = "copy \(number), \(parts), outage \(outage) s"
                let world = try await World(machines)
                let copies = await Self.begin(world)
                let (old, before) = (world.known, world.delivered)
                if outage > 0 {
                    world.setLinked(false)
                    await world.pass(outage, hearing: [2])
                }
                let lost = world.bench.hub.copy.log.count > copies[number].log.count && parts.contains(.log)
                world.bench.hub.replace(parts, by: copies[number])
                world.setLinked(true)
                let running = world.bench.machines
                try await Self.end(world, since: old, before: before, shownBy: running, keepsPresence: true, words)
                for machine in running {
                    let loss = await machine.member.recentLoss
                    #expect((loss != nil) == lost, "\(loss ?? "") \(words)")
                }
            }
        }
    }

    @Test("The log can be cut after any message", arguments: 1...3)
    func cuts(machines: Int) async throws {
        var count = Int.max
        var number = 0
        while number < count {
            let world = try await World(machines)
            _ = await Self.begin(world)
            let (old, before) = (world.known, world.delivered)
            count = world.bench.hub.copy.log.count
            world.bench.hub.cutLog(after: number)
            try await Self.end(
                world, since: old, before: before, shownBy: world.bench.machines, keepsPresence: true, "cut \(number)")
            number += 1
        }
    }

    @Test(
        "A machine that looks only when the log is longer than before notices the loss, too, and shows each change once",
        arguments: ["a", "b", "c"], [0, 3])
    func longer(late: String, number: Int) async throws {
        let world = try await World(3)
        let copies = await Self.begin(world)
        let (old, length) = (world.known, world.bench.hub.copy.log.count)
        let machine = try #require(world.bench.machine(late))
        machine.isStopped = true
        world.bench.hub.replace(.all, by: copies[number])
        var minors: [UInt16] = [2]
        while world.bench.hub.copy.log.count <= length + 3 {
            await world.pass(40, hearing: minors)
            minors = minors == [2] ? [1, 3, 5] : [2]
        }
        machine.isStopped = false
        await world.pass(40, hearing: minors)
        try await world.check(since: old, shownBy: world.bench.machines, "\(late) \(number)")
        #expect(await machine.member.recentLoss != nil)
    }

    @Test(
        "Machines that start after the loss, in any order, have the newest configuration and record each change",
        arguments: 1...3, [0, 2, 5])
    func restarts(machines: Int, number: Int) async throws {
        for first in 0..<machines {
            let world = try await World(machines)
            let copies = await Self.begin(world)
            // A console has added a region; the files do not have it.
            let item = FleetBench.item(GatewayBench.region("attic", minor: 9))
            let editor = try #require(world.bench.machines.first)
            _ = try await editor.member.change(.add(item))
            await world.pass(6, hearing: [2])
            let (old, before) = (world.known, world.delivered)
            for node in world.nodes { world.bench.kill(node) }
            await world.pass(20)
            world.bench.hub.replace(.all, by: copies[number])
            // The first machine's file has no regions.
            for (index, node) in (world.nodes[first...] + world.nodes[..<first]).enumerated() {
                try await world.bench.start(node, hasItems: index > 0)
                await world.pass(4)
            }
            for machine in world.bench.machines {
                #expect(await machine.member.items.map(\.name).contains("attic"), "\(first) \(number)")
            }
            let last = try #require(world.bench.machines.last)
            _ = try await last.member.change(.remove(.region, "attic"))
            try await Self.end(
                world, since: old, before: before, shownBy: [], keepsPresence: false, "\(first) \(number)")
        }
    }

    @Test(
        "Gateways keep the presence and record each event once, although their servers lose all data",
        arguments: [0, 4])
    func gateways(outage: Int) async throws {
        let (hub, now) = FleetMachine.hub()
        let machines = try ["one", "two"].map { try FleetMachine($0, hub, now: now, isWhole: true) }
        try await FleetMachine.run(machines) { second in
            for _ in 0..<10 { await second([[7], []]) }
            for machine in machines { machine.isStopped.withLock { $0 = outage > 0 } }
            for _ in 0..<outage { await second([[7], []]) }
            hub.replace(.all)
            for machine in machines { machine.isStopped.withLock { $0 = false } }
            for _ in 0..<20 { await second([[7], []]) }
            for _ in 0..<45 { await second([[], []]) }
            for _ in 0..<5 { await second([[], [8]]) }
            try await eventually("all notifications are delivered") {
                machines.reduce(0) { $0 + $1.received.withLock { $0.count } } >= 3
            }
        }
        let notifications = machines.flatMap { $0.received.withLock { $0 } }.sorted { $0.time < $1.time }
        #expect(notifications.map(\.kind.rawValue) == ["enter", "exit", "enter"])
        for machine in machines {
            var query = EventHistory.everything
            query.limit = 1_000
            let events = try await EventHistory(try #require(machine.bench.store)).page(query).events
            let changes = events.filter { ["enter", "exit"].contains($0.event.kind) }
            #expect(changes.map(\.event.id).reversed() == notifications.map(\.id), "\(machine.node)")
            let loss = await machine.member.recentLoss
            #expect(loss?.contains("has lost messages 1 to") == true)
        }
    }
}
