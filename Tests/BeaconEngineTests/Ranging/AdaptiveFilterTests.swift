import BeaconEngine
import BeaconModel
import Foundation
import Testing

@Suite("Adaptive filter")
struct AdaptiveFilterTests {
    /// Returns the level of each second for a beacon that is heard once a second with these signals.
    private func levels(_ signals: [Int8]) -> [Double] {
        var configuration = EngineConfiguration()
        // One slope for all distances, so that the reports show the filter's output: ten decibels are ten times as far.
        configuration.strategy.distance = TwoSlopeModel(innerExponent: 1, outerExponent: 1)
        var engine = Engine(configuration: configuration)
        _ = engine.startRanging(nil)
        for (index, rssi) in signals.enumerated() { engine.receive(.of(at: Double(index) + 0.5, rssi: rssi)) }
        engine.advance(to: .at(Double(signals.count)))
        return engine.reports().compactMap { report in report.beacons.first.map { -59 - 10 * log10($0.accuracy) } }
    }

    /// Returns reproducible noise: about normal, with a spread of 5 dB.
    private func noise(_ count: Int, mean: Double) -> [Int8] {
        var state: UInt64 = 42
        return (0..<count).map { _ in
            var sum = 0.0
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                sum += Double(state >> 40) / Double(1 << 24)
            }
            return Int8((mean + (sum - 6) * 5).rounded())
        }
    }

    @Test("The level has no bias: that of noise is the mean of the noise")
    func bias() {
        let signals = noise(4000, mean: -70)
        let mean = signals.reduce(0.0) { $0 + Double($1) } / Double(signals.count)
        let settled = levels(signals).dropFirst(200)
        let level = settled.reduce(0, +) / Double(settled.count)
        #expect(abs(level - mean) < 0.3)
    }

    @Test("The level is calm: with noise of 5 dB, it stays within 3 dB")
    func calm() {
        let settled = levels(noise(1000, mean: -70)).dropFirst(100)
        let strays = settled.filter { abs($0 + 70) > 3 }
        #expect(strays.count < settled.count / 50)
    }

    @Test("The level follows steps of 20 dB within four seconds, up and down", arguments: [(-80, -60), (-60, -80)])
    func steps(from: Int8, to: Int8) throws {
        let result = levels(Array(repeating: from, count: 60) + Array(repeating: to, count: 8))
        let fourth = try #require(result.dropFirst(63).first)
        #expect(abs(fourth - Double(to)) < 5)
    }

    @Test("One odd second moves nothing")
    func outlier() throws {
        let result = levels(Array(repeating: -70, count: 60) + [-40] + Array(repeating: -70, count: 5))
        #expect(result.dropFirst(60).allSatisfy { abs($0 + 70) < 2 })
    }

    @Test("The level follows a slow change completely, unlike a filter with whole numbers")
    func smallStep() throws {
        let result = levels(Array(repeating: -66, count: 30) + Array(repeating: -60, count: 300))
        #expect(abs(try #require(result.last) + 60) < 0.5)
    }
}
