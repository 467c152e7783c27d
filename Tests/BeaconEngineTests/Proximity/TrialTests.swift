import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Proximity: a trial over recorded changes")
struct TrialTests {
    /// The records of a store of events: each change, the time up to which deadlines were met, and each start of the
    /// process, which clears all memory.
    private enum Record {
        case change(ProximityChange)
        case time(Timestamp)
        case start
    }

    private static let conditions: [ProximityCondition] = [
        .gone, .near(.immediate, for: .zero), .near(.near, for: .zero), .near(.far, for: .zero),
        .near(.near, for: .seconds(3)), .near(.near, for: .seconds(30)), .near(.immediate, for: .milliseconds(4_500)),
        .near(.far, for: .seconds(60)), .change(atLeast: .near, coolDown: .seconds(7), hasGone: true),
    ]

    /// A beacon that walks between receivers.
    private struct Walker {
        var minor: UInt16
        var position: Double
        var isOn = true
    }

    /// Beacons that walk past receivers which fall silent, for ten minutes in which the process sometimes ends.
    ///
    /// - Returns: the matches of the live run, each with the number of records before it, and the records.
    private func live(seed: UInt64) -> (matches: [(ProximityMatch, records: Int)], records: [Record]) {
        var random = SplitMix64(seed: seed)
        var walkers = (1...5).map { Walker(minor: $0, position: Double.random(in: 0...20, using: &random)) }
        let receivers = ["hall", "attic", "hall"].prefix(Int.random(in: 1...3, using: &random))
        var silentUntil = receivers.map { _ in 0 }
        var (reports, machine) = (ProximityReports(), ProximityMachine(Self.conditions))
        var matches: [(ProximityMatch, records: Int)] = []
        var records: [Record] = [.start]
        var second = 1000
        for _ in 0..<600 {
            second += 1
            // An outage of all, an end of the process, and one receiver that falls silent, sometimes briefly.
            if Int.random(in: 0..<150, using: &random) == 0 { second += Int.random(in: 1...40, using: &random) }
            if Int.random(in: 0..<150, using: &random) == 0 {
                (reports, machine) = (ProximityReports(), ProximityMachine(Self.conditions))
                records.append(.start)
                second += Int.random(in: 0...20, using: &random)
            }
            for index in silentUntil.indices where Int.random(in: 0..<60, using: &random) == 0 {
                silentUntil[index] = second + Int.random(in: 1...30, using: &random)
            }
            for index in walkers.indices {
                walkers[index].position += Double.random(in: -0.7...0.7, using: &random)
                if Int.random(in: 0..<40, using: &random) == 0 { walkers[index].isOn.toggle() }
            }
            let time = Timestamp.at(Double(second))
            for (index, name) in receivers.enumerated() where silentUntil[index] <= second {
                let beacons = walkers.filter(\.isOn).compactMap { walker -> RangedBeacon? in
                    let distance = abs(walker.position - Double(index) * 8)
                    guard distance < 12 else { return nil }
                    let proximity: Proximity =
                        Int.random(in: 0..<20, using: &random) == 0
                        ? .unknown : distance < 1 ? .immediate : distance < 3 ? .near : .far
                    return ProximityBench.beacon(walker.minor, proximity)
                }
                let report = RangingEvent(time: time, receiver: name, constraint: nil, beacons: beacons)
                for change in reports.receive(report, at: time, from: ReceiverID(UInt16(index))) {
                    records.append(.change(change))
                    matches += machine.receive(change).map { ($0, records.count) }
                }
            }
            let due = machine.advance(to: reports.time)
            if !due.isEmpty { records.append(.time(reports.time)) }
            matches += due.map { ($0, records.count) }
        }
        return (matches, records)
    }

    /// Returns the matches in records, from nothing else.
    private func trial(_ records: some Sequence<Record>) -> [ProximityMatch] {
        var machine = ProximityMachine(Self.conditions)
        return records.flatMap { record -> [ProximityMatch] in
            switch record {
            case .change(let change): return machine.receive(change)
            case .time(let time): return machine.advance(to: time)
            case .start:
                machine = ProximityMachine(Self.conditions)
                return []
            }
        }
    }

    @Test(
        "A trial over all changes finds exactly the live matches, in the same order",
        arguments: UInt64(0)..<200)
    func equality(seed: UInt64) {
        let (matches, records) = live(seed: seed)
        #expect(!matches.isEmpty, "seed \(seed)")
        #expect(trial(records) == matches.map(\.0), "seed \(seed)")
        // Up to any time.
        var random = SplitMix64(seed: seed)
        for _ in 0..<5 {
            let end = Int.random(in: 0...records.count, using: &random)
            #expect(
                trial(records.prefix(end)) == matches.filter { $0.records <= end }.map(\.0), "seed \(seed), \(end)")
        }
    }

    @Test("Advancing time more often, or not before the next change, changes nothing")
    func granularity() {
        // Notifications follow the reports.
        func ofRules(_ match: ProximityMatch) -> Bool { if case .change = match.condition { false } else { true } }
        for seed in UInt64(0)..<50 {
            let (all, records) = live(seed: seed)
            let matches = all.map(\.0).filter(ofRules)
            // Each change includes the time that had passed, except at the end of a process.
            let changes = records.filter { if case .time = $0 { false } else { true } }
            let found = trial(changes).filter(ofRules)
            #expect(found.count <= matches.count, "seed \(seed)")
            #expect(Set(found).isSubset(of: matches), "seed \(seed)")
            let often = records.flatMap { record -> [Record] in
                guard case .change(let change) = record else { return [record] }
                return [.time(change.heldUntil), record]
            }
            #expect(trial(often).filter(ofRules) == matches, "seed \(seed)")
        }
    }
}
