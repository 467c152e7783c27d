import BeaconEngine
import BeaconModel
import BeaconSupport
import Foundation
import Testing

/// A simulated home of six rooms with a receiver each, and eight tags. Walls take 6 dB, and each path has its own
/// deviation of 3.5 dB. Receivers deviate by 2.5 dB and tags by 3 dB.
private struct Home {
    enum Life { case still, everywhere }

    private static let tags = 8
    private var random: SplitMix64
    private var receivers: [(x: Double, y: Double)] = []
    private var receiverOffsets: [Double] = []
    private var tagOffsets: [Double] = []

    /// - Parameter isOneFar: true to put the last receiver 30 m away.
    init(seed: UInt64, isOneFar: Bool) {
        random = SplitMix64(seed: seed)
        for room in 0..<6 { receivers.append((2 + 4 * Double(room % 3), 2 + 4 * Double(room / 3))) }
        if isOneFar { receivers[5] = (40, 6) }
        receiverOffsets = receivers.map { _ in normal() * 2.5 }
        tagOffsets = (0..<Self.tags).map { _ in normal() * 3 }
    }

    private mutating func uniform() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }

    private mutating func normal() -> Double {
        (-2 * log(max(uniform(), 1e-12))).squareRoot() * cos(2 * .pi * uniform())
    }

    private static func beacon(_ tag: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: .test, major: 1, minor: UInt16(tag))
    }

    /// Returns the error of the tags' offsets in dB before and after learning, and the offsets.
    mutating func learn(_ life: Life) -> (before: Double, after: Double, learner: OffsetLearner) {
        var learner = OffsetLearner()
        var spots = (0..<Self.tags).map { _ in (12 * uniform(), 8 * uniform()) }
        var shadows = (0..<Self.tags).map { _ in receivers.map { _ in 0.0 } }
        for minute in 0..<(life == .still ? 10 : 120) {
            for tag in 0..<Self.tags {
                if minute == 0 || life == .everywhere {
                    spots[tag] = (12 * uniform(), 8 * uniform())
                    for place in receivers.indices { shadows[tag][place] = normal() * 3.5 }
                }
                for (place, receiver) in receivers.enumerated() {
                    let (x, y) = spots[tag]
                    let distance = max(0.3, hypot(x - receiver.x, y - receiver.y))
                    let walls = abs(Int(x / 4) - Int(receiver.x / 4)) + abs(Int(y / 4) - Int(receiver.y / 4))
                    let level =
                        -59 - 17.5 * log10(distance) - 6 * Double(walls) + shadows[tag][place] + receiverOffsets[place]
                        + tagOffsets[tag]
                    guard level > -95 else { continue }
                    learner.hear(
                        level, count: 10, over: -59, of: Self.beacon(tag),
                        kind: OffsetLearner.Kind(uuid: .test, power: -59), by: "r\(place)", at: Int64(minute * 60))
                }
            }
        }
        learner.update(hours: .infinity)
        let mean = tagOffsets.reduce(0, +) / Double(Self.tags)
        func error(_ offset: (Int) -> Double) -> Double {
            let squares = (0..<Self.tags).map { pow(tagOffsets[$0] - mean - offset($0), 2) }
            return (squares.reduce(0, +) / Double(Self.tags)).squareRoot()
        }
        return (error { _ in 0 }, error { learner.beacons[Self.beacon($0)] ?? 0 }, learner)
    }
}

@Suite("Learned offsets in simulated homes")
struct OffsetHomeTests {
    private func means(
        _ life: Home.Life, isOneFar: Bool = false
    ) -> (before: Double, after: Double, applied: Int, worse: Int) {
        var (before, after, applied, worse) = (0.0, 0.0, 0, 0)
        for seed in 1...40 {
            var home = Home(seed: UInt64(seed), isOneFar: isOneFar)
            let result = home.learn(life)
            before += result.before / 40
            after += result.after / 40
            applied += result.learner.beacons.values.contains { abs($0) > 0.01 } ? 1 : 0
            worse += result.after > result.before + 0.3 ? 1 : 0
            #expect(result.learner.receivers.isEmpty)
        }
        return (before, after, applied, worse)
    }

    @Test("Tags that lie still keep their error within a tenth of a decibel, also with one far receiver")
    func still() {
        for isOneFar in [false, true] {
            let result = means(.still, isOneFar: isOneFar)
            #expect(abs(result.after - result.before) < 0.1, "\(result)")
            #expect(result.worse <= 2, "\(result)")
        }
    }

    @Test("The offsets of tags that go everywhere are found, also with one far receiver")
    func everywhere() {
        for isOneFar in [false, true] {
            let result = means(.everywhere, isOneFar: isOneFar)
            #expect(result.before > 2 && result.after < 1, "\(result)")
            #expect(result.worse == 0, "\(result)")
        }
    }
}
