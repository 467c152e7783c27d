import BeaconDelivery
import BeaconFleet
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Fleets: partitions")
struct FleetPartitionTests {
    private static let uuid = ProximityUUID(high: 1, low: 2)
    private static let other = ProximityUUID(high: 3, low: 4)

    @Test("All beacons of a region are in one partition, even if regions contain each other")
    func regions() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<200 {
            var constraints: [BeaconConstraint] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let uuid = Bool.random(using: &random) ? Self.uuid : Self.other
                let major = UInt16.random(in: 1...3, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: constraints.append(BeaconConstraint(uuid: uuid))
                case 1, 2: constraints.append(BeaconConstraint(uuid: uuid, major: major))
                default:
                    constraints.append(
                        BeaconConstraint(uuid: uuid, major: major, minor: UInt16.random(in: 1...3, using: &random)))
                }
            }
            let partitions = FleetPartitions(constraints, count: 7)
            for major in UInt16(1)...3 {
                for minor in UInt16(1)...3 {
                    for uuid in [Self.uuid, Self.other] {
                        let beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
                        let regions = constraints.filter { $0.matches(beacon) }
                        let partition = partitions.partition(of: beacon)
                        #expect((partition == nil) == regions.isEmpty)
                        for region in regions { #expect(partitions.partition(of: region) == partition) }
                        if let partition { #expect((0..<7).contains(partition)) }
                    }
                }
            }
        }
    }

    @Test("Many beacons are spread over all partitions, in the same way on each machine")
    func spread() {
        let constraints = (0..<1600).map {
            BeaconConstraint(uuid: Self.uuid, major: UInt16($0 / 100), minor: UInt16($0))
        }
        let partitions = FleetPartitions(constraints, count: 16)
        let counts = Dictionary(grouping: constraints) { partitions.partition(of: $0) }.mapValues(\.count)
        #expect(counts.count == 16 && counts[nil] == nil)
        #expect(counts.values.allSatisfy { (60...145).contains($0) }, "\(counts)")
        // Machines of different versions must agree on this value.
        // FNV-1a of "a" is AF63DC4C8601EC8C (draft-eastlake-fnv, appendix C), and its halves are mixed.
        let expected: UInt64 = 0xAF63_DC4C_8601_EC8C ^ 0xAF63_DC4C
        #expect(StableHash.fnv1a("a".utf8) == expected)
    }

    /// Lets workers decide repeatedly in random order. Returns the final holders and the number of moves.
    private func settle(
        _ workers: [String], count: Int, from holders: [Int: String] = [:], _ random: inout SplitMix64
    ) -> (holders: [Int: String], moves: Int) {
        var (holders, moves) = (holders, 0)
        for _ in 0..<20 {
            for worker in workers.shuffled(using: &random) {
                let plan = LeasePlan(of: count, holders: holders, workers: Set(workers), me: worker)
                for partition in plan.releases {
                    #expect(holders[partition] == worker)
                    holders[partition] = nil
                    moves += 1
                }
                for partition in plan.claims where holders[partition] == nil {
                    holders[partition] = worker
                    moves += 1
                }
            }
        }
        return (holders, moves)
    }

    @Test("As workers come and go, all partitions are held evenly with as few moves as possible")
    func leases() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<100 {
            let count = Int.random(in: 1...40, using: &random)
            let before = (0..<Int.random(in: 1...6, using: &random)).map { "w\($0)" }
            let (held, _) = settle(before, count: count, &random)
            check(held, before, count)
            // Some workers die, others join.
            let after =
                before.filter { _ in Bool.random(using: &random) }
                + (0..<Int.random(in: 1...3, using: &random)).map { "x\($0)" }
            let alive = held.filter { after.contains($0.value) }
            let (new, moves) = settle(after, count: count, from: alive, &random)
            check(new, after, count)
            let share = (count + after.count - 1) / after.count
            let excess = Dictionary(grouping: alive.values) { $0 }.values.reduce(0) { $0 + max(0, $1.count - share) }
            #expect(moves <= count - alive.count + 2 * excess)
        }
    }

    private func check(_ holders: [Int: String], _ workers: [String], _ count: Int) {
        #expect(holders.count == count)
        let counts = workers.map { worker in holders.values.count { $0 == worker } }
        #expect((counts.max() ?? 0) <= (count + workers.count - 1) / workers.count, "\(counts)")
    }

    @Test("Transitions and configurations decode as encoded, and invalid data is an error")
    func forms() throws {
        let change = FleetTransition.Region(
            label: "region hall \u{1F6AA}", beacons: BeaconConstraint(uuid: Self.uuid, major: 1), kind: "enter",
            state: .inside, before: .unknown, receiver: "a/b",
            beacon: BeaconConstraint(uuid: Self.uuid, major: 1, minor: 2))
        let transition = FleetTransition(
            partition: 3, epoch: .max, number: 7, worker: "w", configuration: 1, time: 1_700_000_000_123_456_789,
            content: .region(change)
        )
        #expect(try FleetTransition(transition.encoded()) == transition)
        #expect(transition.id == "3/18446744073709551615/7")
        let event = try #require(change.event(at: .zero))
        #expect(event.owner == .region("hall \u{1F6AA}") && event.event.identity?.minor == 2)
        #expect(ConditionOwner(label: "application x") == nil && ConditionOwner(label: "") == nil)
        #expect(throws: (any Error).self) { try FleetTransition(Array("{}".utf8)) }
        let item = ConfigurationItem(
            kind: .region, name: "hall", settings: .object(["name": .string("hall")]), origin: .file)
        let rule = ConfigurationItem(kind: .rule, name: "x", settings: .object([:]), origin: .file)
        let configuration = FleetConfiguration(revision: 7, partitions: 5, items: [item, rule])
        let read = try FleetConfiguration(configuration.encoded())
        // Rules start programs, so they stay on their machine.
        #expect(read.revision == 7 && read.partitions == 5 && read.items.map(\.name) == ["hall"])
        let absurd = Array(#"{"partitions":9999999,"items":[{"kind":"later","name":"x","settings":1}]}"#.utf8)
        let bounded = try FleetConfiguration(absurd, at: 9)
        #expect(bounded.revision == 9, "an earlier version's configuration has its entry's revision")
        #expect(bounded.partitions == FleetSettings.maximumPartitions && bounded.items.isEmpty)
    }
}
