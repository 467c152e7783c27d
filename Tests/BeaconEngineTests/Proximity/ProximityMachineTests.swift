import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Proximity: near, staying and gone beacons")
struct ProximityMachineTests {
    @Test(
        "A beacon that is at least as near matches once, until it has left for 5 s",
        arguments: [
            (.near, "ffnnnnnnnn", ["3 near"]),
            // A nearer beacon counts too.
            (.near, "ffiiinnii", ["3 near"]),
            (.near(.immediate, for: .zero), "ffnnnii", ["6 immediate"]),
            (.near(.far, for: .zero), "uuffnn", ["3 far"]),
            // At the border.
            (.near, "nfnfnfnfnfnfuun", ["1 near"]),
            // Left and back: last seen at 2, and back five seconds later, or sooner.
            (.near, "nnffffffnn", ["1 near", "9 near"]),
            (.near, "nnffffnn", ["1 near", "7 near"]),
            (.near, "nnfffnn", ["1 near"]),
            (.near, "nn-------nn", ["1 near", "10 near"]),
            (.stays(3), "nnnnnnnn", ["4 near for 3"]),
            (.stays(3), "nnfnnnn", ["4 near for 3"]),
            (.stays(3), "nnfffnnn", ["6 near for 3"]),
            (.stays(3), "nnffffffnnnn", ["12 near for 3"]),
            (.stays(3), "nnffffffn", []),
            // It is no longer near at the end of the time.
            (.stays(3), "nnnffff", []),
            (.gone, "nnuuuuuuuu--n-", ["11 gone", "14 gone"]),
        ] as [(ProximityCondition, String, [String])])
    func sequence(condition: ProximityCondition, sequence: String, expected: [String]) {
        var bench = ProximityBench(condition)
        #expect(bench.play(sequence) == expected)
    }

    @Test("A deadline has its own time, and matches once, if the beacon is still there")
    func deadline() {
        var bench = ProximityBench(.near(.near, for: .milliseconds(2_500)))
        #expect(bench.play("n") == [])
        #expect(bench.machine.advance(to: .at(1003)) == [])
        #expect(bench.play("nn") == [])
        #expect(bench.play("n") == ["3.5 near for 2"])
        #expect(bench.machine.advance(to: .at(9999)) == [])
    }

    @Test("A receiver with a reused number does not affect the other's list")
    func reassigned() {
        var bench = ProximityBench(.gone, .near)
        #expect(bench.play("nnnn", receiver: "hall") == ["1 near"])
        #expect(bench.play("---------------------", receiver: "attic") == [])
        // It was near before the doubt, too.
        #expect(bench.play("n-", receiver: "attic") == ["27 gone"])
        #expect(bench.play("-----n", receiver: "attic") == ["33 near"])
    }

    @Test("Each condition and each beacon counts separately")
    func several() {
        var bench = ProximityBench(.gone, .near(.immediate, for: .zero), .near)
        #expect(bench.play("fni-") == ["2 near", "3 immediate", "4 gone"])
        #expect(bench.play("n", minor: 2) == ["5 near"])
    }

    @Test("A beacon that another receiver hears too is near once and gone once")
    func receivers() {
        var bench = ProximityBench(.gone, .near)
        #expect(bench.play("n", receiver: "a") == ["1 near"])
        #expect(bench.play("n", receiver: "b").isEmpty)
        #expect(bench.play("-", receiver: "a").isEmpty)
        #expect(bench.play("-", receiver: "b") == ["4 gone"])
    }

    @Test("Of two devices with one identity, and of two constraints in a second, the nearest counts once")
    func devices() {
        var reports = ProximityReports()
        let beacons = [ProximityBench.beacon(1, .near), ProximityBench.beacon(1, .far)]
        func report(_ constraint: BeaconConstraint?, _ beacons: [RangedBeacon]) -> RangingEvent {
            RangingEvent(time: .at(1), receiver: "a", constraint: constraint, beacons: beacons)
        }
        let one = BeaconConstraint(uuid: .test, major: 1)
        #expect(reports.receive(report(nil, beacons), at: .at(1)).map(\.state) == [.at(.near)])
        #expect(reports.receive(report(one, beacons), at: .at(1)).isEmpty)
        // Each constraint has a separate list.
        #expect(reports.receive(report(BeaconConstraint(uuid: .test, major: 2), []), at: .at(2)).isEmpty)
        #expect(reports.receive(report(one, []), at: .at(2)).isEmpty)
        #expect(reports.receive(report(nil, []), at: .at(2)).map(\.state) == [.gone])
        #expect(reports.standing.isEmpty && reports.present.isEmpty)
    }

    @Test("A deaf receiver proves neither that a beacon stays nor that it is gone")
    func deafness() {
        var bench = ProximityBench(.gone, .near, .stays(30))
        #expect(bench.play("nn", receiver: "a") == ["1 near"])
        // A night without a report, and then a report without beacons.
        bench.second += 3600 * 8
        #expect(bench.play("----", receiver: "a").isEmpty)
        // It is as near as before, and so it has not come.
        #expect(bench.play("n", receiver: "a").isEmpty)
        bench.second += 100
        // A beacon that is far after the night has left.
        #expect(bench.play("fffff", receiver: "a").isEmpty)
        #expect(bench.play("n", receiver: "a").map { $0.split(separator: " ").dropFirst() } == [["near"]])
        // It does not return; another one hears the beacon, and then no longer.
        bench.second += 100
        #expect(bench.play("fff", receiver: "b").isEmpty)
        #expect(bench.play("--", receiver: "b").count == 1)
        // A receiver that returns, and lists no beacon for longer than ranging does.
        var other = ProximityBench(.gone)
        _ = other.play("n", receiver: "a")
        other.second += 100
        #expect(other.play("---------", receiver: "a").isEmpty)
        #expect(other.play("---", receiver: "a").count == 1)
    }

    @Test("A deaf receiver's beacons are doubtful while another reports, and gone if that one lost them last")
    func doubt() {
        var bench = ProximityBench(.gone, .stays(10))
        _ = bench.play("n", receiver: "a")
        // b reports, and does not hear the beacon: after 5 s its place is unknown.
        #expect(bench.play("------------", receiver: "b").isEmpty)
        #expect(bench.changes.last?.state == .doubtful)
        // A beacon that b hears is no longer doubtful.
        #expect(bench.play("f-", receiver: "b") == ["15 gone"])
    }

    @Test("In any sequence, no condition matches twice within the patience, and only present beacons match")
    func anySequence() {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            var bench = ProximityBench(.near)
            let sequence = String((0..<60).map { _ in "infu-".randomElement(using: &random) ?? "n" })
            let times = bench.play(sequence).compactMap { Int($0.split(separator: " ")[0]) }
            let letters = Array(sequence)
            for (time, next) in zip(times, times.dropFirst()) {
                // In between it was not near for 5 s in a row, which has four reports.
                let between = String(letters[time..<next - 1])
                #expect(
                    between.split(whereSeparator: { "in".contains($0) }).contains { $0.count >= 4 },
                    "seed \(seed): \(sequence)")
            }
            for time in times { #expect("in".contains(letters[time - 1]), "seed \(seed)") }
            #expect(times.isEmpty == !sequence.contains { "in".contains($0) }, "seed \(seed)")
        }
    }

    @Test(
        "A change is notified at the end of the cool-down, if it still holds and is near enough",
        arguments: [
            (0, Proximity.unknown, false, "nn-nuf", ["1 is near", "4 is near", "5 is unknown", "6 is far"]),
            (0, .unknown, true, "n--n", ["1 is near", "2 is gone", "4 is near"]),
            (0, .near, true, "f-uni", ["4 is near", "5 is immediate"]),
            (3, .unknown, false, "nffff", ["1 is near", "4 is far"]),
            (3, .unknown, false, "nfnnnf", ["1 is near", "6 is far"]),
            // The report at the end of the cool-down counts.
            (3, .unknown, false, "nffiii", ["1 is near", "4 is immediate"]),
            (3, .unknown, false, "n-nn", ["1 is near"]),
            (3, .unknown, true, "n-nnn", ["1 is near", "2 is gone", "4 is near"]),
            (3, .unknown, false, "nf--ff", ["1 is near", "5 is far"]),
        ] as [(Int, Proximity, Bool, String, [String])])
    func notifications(coolDown: Int, atLeast: Proximity, hasGone: Bool, sequence: String, expected: [String]) {
        var bench = ProximityBench(.change(atLeast: atLeast, coolDown: .seconds(coolDown), hasGone: hasGone))
        #expect(bench.play(sequence) == expected)
    }

    @Test("Deafness is not a change to notify of, and a beacon is gone only after its receiver has listened again")
    func deafNotification() {
        var bench = ProximityBench(.change(atLeast: .unknown, coolDown: .zero, hasGone: true))
        #expect(bench.play("n") == ["1 is near"])
        bench.second += 60
        #expect(bench.play("--n").isEmpty)
        bench.second += 60
        #expect(bench.play("----------").isEmpty)
        #expect(bench.play("-").map { $0.split(separator: " ", maxSplits: 1)[1] } == ["is gone"])
    }

    // MARK: - Apps

    private static let beacon = BeaconIdentity(uuid: .test, major: 1, minor: 1)

    /// Returns the matches of reports from an app or another gateway.
    private func reported(
        _ reports: [(seconds: Double, proximity: Proximity?)], _ conditions: ProximityCondition..., lasts: Bool = false
    ) -> [Double] {
        var machine = ProximityMachine(conditions)
        return reports.flatMap { report in
            let change = ProximityChange(
                Self.beacon, report.proximity.map { .at($0) } ?? .gone, at: .at(report.seconds), lasts: lasts)
            return machine.receive(change, of: "i")
        }.map { Double($0.time.nanoseconds) / 1e9 }
    }

    @Test("An app's reports are visits: a change within a visit is not another one, a repeated report is")
    func visits() {
        #expect(reported([(0, .far), (1, .near), (2, .immediate), (9, .near)], .near) == [1])
        #expect(reported([(0, .near), (2, .near), (60, .near)], .near) == [0, 60])
        #expect(reported([(0, .near), (10, .far), (11, .near)], .near) == [0, 11])
        // At the border.
        #expect(reported([(0, .near), (1, .far), (2, .near)], .near) == [0])
        #expect(reported([(0, .unknown), (10, .far)], .near) == [])
        #expect(reported([(0, .near), (5, nil)], .gone) == [5])
        // An app that reports a beacon as gone has had it there, unless all changes are reported.
        #expect(reported([(5, nil)], .gone) == [5])
        #expect(reported([(5, nil)], .gone, lasts: true) == [])
        // A batch that arrives after a later one, and a clock that was ahead.
        #expect(reported([(100, .near), (50, .far), (60, .near), (110, .far), (105, .near)], .near) == [100, 105])
        #expect(reported([(3e9, .near), (10, .near), (20, .near)], .near) == [3e9, 20])
    }

    @Test("A stay is known by a later report that confirms it or, if all changes are reported, by its deadline")
    func stays() {
        let stay = ProximityCondition.stays(30)
        #expect(reported([(0, .near), (29, .immediate), (31, .near), (60, .near)], stay) == [31])
        #expect(reported([(0, .near), (29, .far), (31, .near)], stay) == [])
        // A report on another day does not prove a stay of a day, and a new stay counts from its beginning.
        #expect(reported([(0, .near), (40, .near), (90_000, .near), (90_040, .near)], stay) == [40, 90_040])
        #expect(reported([(0, .near), (100, .far)], stay, lasts: true) == [30])
        #expect(reported([(0, .near), (20, .far)], stay, lasts: true) == [])
        #expect(reported([(0, .near), (40, .immediate), (100, nil)], stay, lasts: true) == [30])
        // A state that holds until the next change is not another visit when it is repeated.
        #expect(reported([(0, .near), (100, .near), (200, .unknown), (300, .near)], .near, lasts: true) == [0, 300])
    }

    // MARK: - Bounds

    @Test("A changing crowd and invented subjects leave no more memory than the bound")
    func bound() {
        var machine = ProximityMachine([.near, .gone], maximum: 100)
        for number in 0..<10_000 {
            let beacon = BeaconIdentity(uuid: .test, major: 1, minor: UInt16(number))
            let change = ProximityChange(beacon, .at(.near), at: .at(Double(number)), lasts: number % 2 == 0)
            #expect(machine.receive(change, of: "install \(number / 3)").count == 1)
            #expect(machine.count <= 100)
        }
        var reports = ProximityReports(maximum: 10)
        let crowd = (0..<15).map { ProximityBench.beacon(UInt16($0), .near) }
        for second in 1...3 {
            let report = RangingEvent(time: .zero, receiver: "a", constraint: nil, beacons: crowd)
            #expect(reports.receive(report, at: .at(Double(second))).count == (second == 1 ? 10 : 0))
        }
        #expect(reports.standing.count == 10 && reports.ignored == 15)
    }

    @Test("A beacon that is gone is forgotten once its return would be a new visit")
    func forgotten() {
        var bench = ProximityBench(.near)
        _ = bench.play("n-")
        #expect(bench.machine.count == 1)
        _ = bench.play("-----")
        #expect(bench.machine.count == 0)
    }

    @Test("Times that run backward, or are wrong, never trap")
    func backward() {
        var machine = ProximityMachine([.near, .stays(30), .gone])
        for nanoseconds in [0, Int64.max, Int64.min, 1_800_000_000_000_000_000, Int64.max / 2, -1] {
            for state in [ProximityChange.State.at(.near), .at(.far), .doubtful, .gone] {
                let time = Timestamp(nanoseconds: nanoseconds)
                _ = machine.receive(ProximityChange(Self.beacon, state, at: time))
                _ = machine.advance(to: time)
            }
        }
    }
}
