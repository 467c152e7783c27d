import BeaconModel
import Testing

@testable import BeaconMonitoring

@Suite("Rules: the events for which a program runs")
struct RuleTriggerTests {
    /// A rule, and the reports of one receiver, a second after another.
    private struct Bench {
        var trigger: RuleTrigger
        var second: Int64 = 1000

        init(_ events: String...) throws { trigger = RuleTrigger(try events.map { try RuleEvent($0) }) }

        /// Reports each word as a second: the proximity's first letter, `-` for a beacon that is not listed.
        mutating func play(_ course: String, receiver: String = "hci0", minor: UInt16 = 1) -> [String] {
            course.flatMap { letter in
                second += 1
                return report(letter, receiver: receiver, minor: minor)
            }
        }

        mutating func report(_ letter: Character, receiver: String = "hci0", minor: UInt16 = 1) -> [String] {
            let proximities: [Character: Proximity] = ["i": .immediate, "n": .near, "f": .far, "u": .unknown]
            let beacons = proximities[letter].map {
                [
                    RangedBeacon(
                        address: DeviceAddress(bits: 1, kind: .random),
                        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: minor),
                        proximity: $0, accuracy: 1, rssi: -60, lastHeard: .zero)
                ]
            }
            let report = RangingEvent(
                time: Timestamp(nanoseconds: second * 1_000_000_000), receiver: receiver, constraint: nil,
                beacons: beacons ?? [])
            let index: UInt16 = receiver == "b" ? 1 : 0
            return trigger.receive(
                report, at: Timestamp(nanoseconds: second * 1_000_000_000), from: ReceiverID(index)
            ).map {
                "\($0.time.nanoseconds / 1_000_000_000 - 1000) \($0.name) \($0.reached.map { "\($0)" } ?? "")"
            }
        }
    }

    @Test(
        "A beacon that is at least as near is reported once, until it has left for 5 s",
        arguments: [
            ("near", "ffnnnnnnnn", ["3 proximity near"]),
            // Nearer counts too.
            ("near", "ffiiinnii", ["3 proximity near"]),
            ("immediate", "ffnnnii", ["6 proximity immediate"]),
            ("far", "uuffnn", ["3 proximity far"]),
            // At the border.
            ("near", "nfnfnfnfnfnfuun", ["1 proximity near"]),
            // Left and back.
            ("near", "nnffffffnn", ["1 proximity near", "9 proximity near"]),
            ("near", "nn-------nn", ["1 proximity near", "10 proximity near"]),
            ("near for 3s", "nnnnnnnn", ["4 stays near"]),
            ("near for 3s", "nnfnnnn", ["4 stays near"]),
            ("near for 3s", "nnffffffnnnn", ["12 stays near"]),
            ("near for 3s", "nnffffffn", []),
            ("gone", "nnuuuuuuuu--n-", ["11 gone ", "14 gone "]),
            ("enter", "nnnnn-----", []),
        ])
    func course(event: String, course: String, expected: [String]) throws {
        var bench = try Bench(event)
        #expect(bench.play(course) == expected)
    }

    @Test("A receiver that gets the number of another one says nothing of what that one listed")
    func reassigned() throws {
        var bench = try Bench("gone", "near")
        #expect(bench.play("nnnn", receiver: "hall") == ["1 proximity near"])
        #expect(bench.play("---------------------", receiver: "attic") == [])
        #expect(bench.play("n-", receiver: "attic") == ["26 proximity near", "27 gone "])
    }

    @Test("Each event of a rule, and each beacon, counts for itself")
    func several() throws {
        var bench = try Bench("near", "immediate", "gone")
        #expect(
            bench.play("fni-") == ["2 proximity near", "3 proximity immediate", "4 gone "])
        #expect(bench.play("n", minor: 2) == ["5 proximity near"])
    }

    @Test("A beacon that another receiver hears as well is near, and gone, once")
    func receivers() throws {
        var bench = try Bench("near", "gone")
        #expect(bench.play("n", receiver: "a") == ["1 proximity near"])
        #expect(bench.play("n", receiver: "b").isEmpty)
        #expect(bench.play("-", receiver: "a").isEmpty)
        #expect(bench.play("-", receiver: "b") == ["4 gone "])
    }

    @Test("A receiver that is deaf says neither that a beacon stays nor that it is gone")
    func deafness() throws {
        var bench = try Bench("near for 30s", "near", "gone")
        #expect(bench.play("nn", receiver: "a") == ["1 proximity near"])
        // A night without a report, and then one that lists nobody yet.
        bench.second += 3600 * 8
        #expect(bench.play("----", receiver: "a").isEmpty)
        #expect(
            bench.play("n", receiver: "a").map { String($0.split(separator: " ", maxSplits: 1)[1]) } == [
                "proximity near"
            ])
        // It does not come back; another one hears the beacon, and then no more.
        bench.second += 100
        #expect(bench.play("fff", receiver: "b").isEmpty)
        #expect(bench.play("--", receiver: "b").count == 1)
        // One that comes back, and lists nobody for longer than ranging does.
        var other = try Bench("gone")
        _ = other.play("n", receiver: "a")
        other.second += 100
        #expect(other.play("---------", receiver: "a").isEmpty)
        #expect(other.play("---", receiver: "a").count == 1)
    }

    @Test("In any course, no rule fires twice within its patience, and nothing fires but by what was asked for")
    func anyCourse() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var bench = try Bench("near")
            let course = String((0..<60).map { _ in "infu-".randomElement(using: &random) ?? "n" })
            let times = bench.play(course).compactMap { Int($0.split(separator: " ")[0]) }
            let letters = Array(course)
            for (time, next) in zip(times, times.dropFirst()) {
                // In between it was not near for 5 s in a row, which has four reports.
                let between = String(letters[time..<next - 1])
                #expect(between.split(whereSeparator: { "in".contains($0) }).contains { $0.count >= 4 }, "\(course)")
            }
            for time in times { #expect("in".contains(letters[time - 1])) }
            #expect(times.isEmpty == !course.contains { "in".contains($0) })
        }
    }

    @Test("What is written is read, and other texts are refused with what to write")
    func grammar() throws {
        for text in ["enter", "exit", "gone", "immediate", "near", "far", "near for 30s", "far for 1h30m"] {
            #expect(try RuleEvent(text).description == text)
        }
        #expect(try RuleEvent("  near   for  90s ").description == "near for 1m30s")
        for text in ["", "nearby", "near 30s", "near for", "near for ever", "enter for 3s", "unknown", "near for 8d"] {
            #expect(throws: RuleEvent.Failure.self) { try RuleEvent(text) }
        }
    }
}
