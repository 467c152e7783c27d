import BeaconDelivery
import BeaconEventStore
import BeaconFleet
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

/// Events of a fleet in its machines' stores and at destinations.
@Suite("Fleets: one id for each event")
struct FleetIDTests {
    /// An event without its id.
    private struct Happening: Hashable {
        var kind: String
        var region: String?
        var milliseconds: Int64

        init(kind: String, region: String?, time: Timestamp) {
            (self.kind, self.region) = (kind, region)
            milliseconds = (time.nanoseconds + 500_000) / 1_000_000
        }
    }

    /// Beacons that come and go, each in its own region.
    private struct Walk {
        private var random: SplitMix64
        private var inside: [UInt16: Int] = [:]
        private var until: [UInt16: Int] = [:]

        init(_ random: SplitMix64) { self.random = random }

        /// Returns the adverts of a second at three receivers.
        mutating func heard(at second: Int) -> [[UInt16]] {
            var heard: [[UInt16]] = [[], [], []]
            for minor in UInt16(1)...4 {
                if until[minor, default: 0] <= second {
                    let isInside = inside[minor] != nil
                    inside[minor] = isInside ? nil : Int.random(in: 0..<3, using: &random)
                    // An exit takes 30 s.
                    until[minor] = second + Int.random(in: isInside ? 34...45 : 3...15, using: &random)
                }
                if let receiver = inside[minor] { heard[receiver].append(minor) }
            }
            return heard
        }
    }

    @Test(
        "If any machine pauses, destinations and all histories still have one id for each event",
        arguments: UInt64(1)...3)
    func ids(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let (hub, now) = FleetMachine.hub()
        let regions = (UInt16(1)...4).map { GatewayBench.region("beacon \($0)", minor: $0) }
        let machines = try ["one", "two", "three"].map {
            try FleetMachine($0, hub, now: now, regions: regions, isWhole: true)
        }
        try await FleetMachine.run(machines) { second in
            var walk = Walk(SplitMix64(seed: seed ^ 0xBEAC))
            for number in 0..<180 {
                if number % 30 == 10, let machine = machines.randomElement(using: &random) {
                    machine.isStopped.withLock { $0 = true }
                }
                if number % 30 == 22 + 2 * Int(seed) {
                    for machine in machines { machine.isStopped.withLock { $0 = false } }
                }
                await second(walk.heard(at: number))
            }
            for machine in machines { machine.isStopped.withLock { $0 = false } }
            for _ in 0..<40 { await second([[], [], []]) }
            try await eventually("all waiting notifications are delivered") {
                for machine in machines {
                    guard let status = try await machine.delivery?.status() else { continue }
                    if status.contains(where: { $0.waiting > 0 }) { return false }
                }
                return true
            }
        }

        var sent: [Happening: EventID] = [:]
        for notification in machines.flatMap({ $0.received.withLock { $0 } }) {
            let happening = Happening(
                kind: notification.kind.rawValue, region: notification.region?.name, time: notification.time)
            #expect(sent[happening] ?? notification.id == notification.id, "\(happening), seed \(seed)")
            sent[happening] = notification.id
        }
        #expect(Set(sent.values).count == sent.count, "seed \(seed)")
        #expect(sent.count >= 8, "seed \(seed)")
        for machine in machines {
            let own = machine.received.withLock { $0.map(\.id) }
            #expect(Set(own).count == own.count, "\(machine.node) delivered an event twice, seed \(seed)")
            var query = EventHistory.everything
            query.limit = 1_000
            let events = try await EventHistory(try #require(machine.bench.store)).page(query).events
            #expect(Set(events.map(\.event.id)).count == events.count, "\(machine.node), seed \(seed)")
            var kept: [Happening: EventID] = [:]
            for event in events where ["enter", "exit"].contains(event.event.kind) {
                let happening = Happening(
                    kind: event.event.kind, region: event.event.region, time: event.event.time)
                #expect(kept[happening] == nil, "\(happening), seed \(seed)")
                kept[happening] = event.event.id
            }
            #expect(kept == sent, "\(machine.node), seed \(seed)")
        }
    }

    @Test(
        "A machine that was away, or joins, records the missed events in its history, and runs nothing for them",
        arguments: [true, false])
    func missed(wasThere: Bool) async throws {
        let bench = FleetBench(
            regions: [GatewayBench.region("hall")], receivers: ["w"],
            begin: Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
        try await bench.start("a")
        if wasThere {
            try await bench.start("b")
            await bench.pass(6)
            bench.kill("b")
        } else {
            await bench.pass(6)
        }
        // Longer than the takeover of its partitions.
        var heard = bench.adverts(80)
        await bench.pass(to: bench.now.withLock { $0 }.advanced(by: 50 * FleetBench.second), hearing: &heard)
        let shown = bench.audience.shown.withLock { $0.count }
        try await bench.start("b")
        await bench.pass(8)
        let histories = bench.histories.mapValues { Set($0.events.withLock { $0.keys }) }
        #expect(histories["a"] == histories["b"] && histories["a"]?.isEmpty == false)
        let newChanges = bench.audience.shown.withLock { $0[shown...] }.filter { $0.content != .takeover }
        #expect(newChanges.isEmpty)
    }
}
