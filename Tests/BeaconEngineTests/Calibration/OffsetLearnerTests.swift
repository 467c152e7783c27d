import BeaconEngine
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@Suite("Learned offsets")
struct OffsetLearnerTests {
    private static let kind = OffsetLearner.Kind(uuid: .test, power: -59)

    private static func beacon(_ minor: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: .test, major: 1, minor: UInt16(minor))
    }

    // MARK: - The same numbers as the reference

    /// An input of random readings, and the results of a reference implementation in another language.
    struct Sample: Sendable {
        var seed: UInt64
        var (receivers, beacons, minutes, moving, updates): (Int, Int, Int, Int, Int)
        var noise: Double
        var reliability: [Double]
        var receiverOffsets: [Double]
        var beaconOffsets: [Double]

        /// Returns the learner after the input, with an update each hour and some more at the end.
        func learner() -> OffsetLearner {
            var random = SplitMix64(seed: seed)
            func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
            var learner = OffsetLearner(moving: Set((0..<moving).map { "r\($0)" }))
            let receiverEffects = (0..<receivers).map { _ in below(11) - 5 }
            let beaconEffects = (0..<beacons).map { _ in below(11) - 5 }
            for minute in 0..<minutes {
                for receiver in 0..<receivers {
                    for beacon in 0..<beacons {
                        let (path, count) = (below(13), below(8))
                        for number in 0..<count {
                            var level = -10 - path + receiverEffects[receiver] + beaconEffects[beacon] - below(5)
                            if below(50) == 0 { level -= 30 }
                            learner.hear(
                                Double(level - 59), count: 1, over: -59, of: OffsetLearnerTests.beacon(beacon),
                                kind: OffsetLearnerTests.kind, by: "r\(receiver)", at: Int64(minute * 60 + 7 * number))
                        }
                    }
                }
                if minute % 60 == 59 { learner.update() }
            }
            for _ in 0..<updates { learner.update() }
            return learner
        }
    }

    @Test(
        "The results are those of the reference",
        arguments: [
            Sample(
                seed: 2, receivers: 4, beacons: 8, minutes: 180, moving: 2, updates: 40, noise: 0.466345310064,
                reliability: [0.996547277884, 0.994989976697], receiverOffsets: [-1.583196194, -3.058016534],
                beaconOffsets: [
                    3.793768428, -1.864596853, 0.500867894, 3.645679191, -2.187644553, -1.831333685, -5.123478494,
                    3.066738073,
                ]),
            Sample(
                seed: 1, receivers: 4, beacons: 8, minutes: 180, moving: 4, updates: 0, noise: 0.379324731245,
                reliability: [0.998935065992, 0.995720519319], receiverOffsets: [1.5, 1.5, -1.5, 0.916273307],
                beaconOffsets: [1.5, -1.5, -1.5, -0.147494437, -1.5, -1.058663489, 1.5, 1.5]),
            Sample(
                seed: 3, receivers: 3, beacons: 4, minutes: 60, moving: 3, updates: 30, noise: 0.567620006205,
                reliability: [0.986162872465, 0.993211571878],
                receiverOffsets: [-2.143986308, 2.559833614, -0.415847307],
                beaconOffsets: [1.471284443, -3.931466745, 4.847580557, -2.387398256]),
            Sample(
                seed: 4, receivers: 8, beacons: 12, minutes: 30, moving: 1, updates: 20, noise: 1.027640914887,
                reliability: [0.993663268128, 0.989241426714], receiverOffsets: [4.93026747],
                beaconOffsets: [
                    4.281627622, 1.529056005, -1.10358761, 3.782568519, 0.93406519, -5.992057427, -2.876526504,
                    2.369031459, -4.073180372, -3.707303929, 3.671678116, 1.18462893,
                ]),
        ])
    func reference(_ sample: Sample) throws {
        let learner = sample.learner()
        let report = try #require(learner.report)
        #expect(report.pairs == sample.receivers * sample.beacons)
        #expect(abs(try #require(report.noise) - sample.noise) < 1e-8)
        #expect(report.sides.count == 2)
        for (side, expected) in zip(report.sides, sample.reliability) {
            #expect(abs(side.reliability - expected) < 1e-8)
            #expect(side.isUsed)
        }
        #expect(learner.receivers.count == sample.moving)
        for (number, expected) in sample.receiverOffsets.enumerated() {
            #expect(abs(try #require(learner.receivers["r\(number)"]) - expected) < 1e-6)
        }
        #expect(learner.beacons.count == sample.beacons)
        for (number, expected) in sample.beaconOffsets.enumerated() {
            #expect(abs(try #require(learner.beacons[Self.beacon(number)]) - expected) < 1e-6)
        }
    }

    @Test("Two receivers are too few, and the report says that there are no pairs")
    func tooFew() throws {
        let sample = Sample(
            seed: 5, receivers: 2, beacons: 9, minutes: 60, moving: 2, updates: 5, noise: 0, reliability: [],
            receiverOffsets: [], beaconOffsets: [])
        let learner = sample.learner()
        #expect(learner.receivers.isEmpty && learner.beacons.isEmpty)
        #expect(learner.report?.pairs == 0 && learner.report?.noise == nil && learner.report?.sides == [])
    }

    // MARK: - Kinds, calibrations, bounds

    /// Returns a learner in which three receivers have heard beacons for an hour, each with its own effect.
    private func learner(
        _ beacons: [(effect: Double, kind: OffsetLearner.Kind, basis: Double)], moving: Set<String> = []
    ) -> OffsetLearner {
        var learner = OffsetLearner(moving: moving)
        for minute in 0..<60 {
            for (number, beacon) in beacons.enumerated() {
                for receiver in 0..<3 {
                    learner.hear(
                        -70 + beacon.effect + 2 * Double(receiver), count: 5, over: beacon.basis,
                        of: Self.beacon(number), kind: beacon.kind, by: "r\(receiver)", at: Int64(minute * 60))
                }
            }
        }
        return learner
    }

    @Test("Beacons are compared only with those that claim the same power")
    func kinds() throws {
        let strong = OffsetLearner.Kind(uuid: .test, power: -39)
        let effects = [-3.0, -1, 1, 3]
        // The second kind claims 20 dB more and sends as much, so all of it seems 20 dB weaker.
        var learner = learner(
            effects.map { ($0, Self.kind, -59) } + effects.map { ($0, strong, -39) })
        learner.update(hours: .infinity)
        for number in 0..<8 {
            #expect(abs(try #require(learner.beacons[Self.beacon(number)]) - effects[number % 4]) < 0.1)
        }
        #expect(learner.report?.sides.map(\.devices) == [3, 4, 4])
    }

    @Test("A calibrated beacon has no learned offset, and does not move those of others")
    func calibrated() throws {
        let known = OffsetLearner.Kind(uuid: .test, power: -59, isCalibrated: true)
        let effects = [-3.0, -1, 1, 3]
        var learner = learner(effects.map { ($0, Self.kind, -59) } + [(10, known, -49)])
        learner.update(hours: .infinity)
        #expect(learner.beacons[Self.beacon(4)] == nil)
        #expect(abs(try #require(learner.beacons[Self.beacon(0)]) + 3) < 0.1)
        // What it had learned before goes.
        var earlier = OffsetLearner(beacons: [Self.beacon(4): 5])
        earlier.forget(Self.beacon(4))
        #expect(earlier.beacons.isEmpty)
    }

    @Test("A receiver that stands has no offset, however reliable the fit is")
    func standing() throws {
        var learner = learner([-3.0, -1, 1, 3].map { ($0, Self.kind, -59) })
        learner.update(hours: .infinity)
        #expect(learner.report?.sides.first?.isUsed == true)
        #expect(learner.receivers.isEmpty)
        learner.moving = ["r2"]
        learner.update(hours: .infinity)
        #expect(learner.receivers.keys.sorted() == ["r2"])
        #expect(abs(try #require(learner.receivers["r2"]) - 2) < 0.1)
        learner.moving = []
        learner.update()
        #expect(learner.receivers.isEmpty)
    }

    @Test("An offset moves by half a decibel an hour, and a beacon that claims another power is compared again")
    func slow() throws {
        var learner = learner([-3.0, -1, 1, 3].map { ($0, Self.kind, -59) })
        for hour in 1...8 {
            learner.update()
            #expect(abs(try #require(learner.beacons[Self.beacon(3)]) - min(0.5 * Double(hour), 3)) < 0.1)
        }
        for second in 3600..<3660 {
            learner.hear(
                -67, count: 1, over: -40, of: Self.beacon(3),
                kind: OffsetLearner.Kind(uuid: .test, power: -40), by: "r0", at: Int64(second))
        }
        learner.update()
        #expect(learner.report?.pairs == 9)
    }

    @Test("There are at most 4096 pairs, and those that were heard last stay")
    func bounds() throws {
        var learner = OffsetLearner()
        for minute in 0..<10 {
            for beacon in 0..<3 {
                for receiver in 0..<3 {
                    learner.hear(
                        -70, count: 5, over: -59, of: Self.beacon(beacon), kind: Self.kind, by: "r\(receiver)",
                        at: Int64(minute * 60))
                }
            }
            for stranger in 0..<3000 {
                learner.hear(
                    -70, count: 5, over: -59, of: Self.beacon(100 + minute * 3000 + stranger), kind: Self.kind,
                    by: "r0", at: Int64(minute * 60))
            }
        }
        learner.update()
        #expect(learner.report?.pairs == 9)
        let stored = try JSONDecoder().decode(OffsetLearner.self, from: JSONEncoder().encode(learner))
        // Nine pairs and strangers, with a half-open minute that is not stored.
        #expect(try JSONEncoder().encode(learner).count < 2 << 20)
        var again = stored
        again.update()
        #expect(again.report?.pairs == 9)
    }
}
