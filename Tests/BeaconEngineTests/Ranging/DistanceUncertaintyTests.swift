import BeaconEngine
import BeaconModel
import Testing

@Suite("The range of a distance")
struct DistanceUncertaintyTests {
    /// Estimates from a millimeter to ten kilometers, each 0.1 % more than the one before.
    private static let estimates = Array(sequence(first: 0.001) { $0 < 10_000 ? $0 * 1.001 : nil })

    @Test("The estimate is always inside its range", arguments: [true, false])
    func inside(isPowerKnown: Bool) {
        for estimate in Self.estimates + [0, 0.3, 0.7, 12, 20] {
            let range = DistanceUncertainty.range(of: estimate, isPowerKnown: isPowerKnown)
            #expect(range.contains(estimate) && range.lowerBound >= 0, "\(estimate) is not in \(range)")
        }
    }

    @Test("Both ends of a range grow with the estimate", arguments: [true, false])
    func monotony(isPowerKnown: Bool) {
        let ranges = Self.estimates.map { DistanceUncertainty.range(of: $0, isPowerKnown: isPowerKnown) }
        for (place, (range, next)) in zip(ranges, ranges.dropFirst()).enumerated() {
            #expect(range.lowerBound < next.lowerBound, "after \(Self.estimates[place])")
            #expect(
                range.upperBound < next.upperBound || range.upperBound == .infinity,
                "after \(Self.estimates[place])")
        }
    }

    @Test("A range has no upper end exactly from an estimate of 20 m on", arguments: [true, false])
    func open(isPowerKnown: Bool) {
        for estimate in Self.estimates + [20] {
            let range = DistanceUncertainty.range(of: estimate, isPowerKnown: isPowerKnown)
            #expect((range.upperBound == .infinity) == (estimate >= 20), "\(estimate)")
        }
    }

    @Test("If the power is unknown, the range is wider", arguments: [0.1, 0.3, 0.5, 1, 1.4, 2, 3])
    func unknownPower(estimate: Double) {
        let known = DistanceUncertainty.range(of: estimate)
        let unknown = DistanceUncertainty.range(of: estimate, isPowerKnown: false)
        #expect(unknown.upperBound / unknown.lowerBound > 1.3 * known.upperBound / known.lowerBound)
    }

    @Test(
        "A beacon's range begins and ends at the factors of its estimate",
        arguments: [
            (Int8(-45), -59, 0.1166, 0.0816, 0.3032), (-59, -59, 1, 0.6938, 2.329), (-69, -59, 3.728, 1.916, 6.817),
            (-79, -59, 13.895, 4.168, 19.45), (-82, -59, 20.62, 6.186, .infinity), (-85, -59, 30.60, 9.180, .infinity),
            (-45, 127, 0.1166, 0.1049, 0.8395), (-59, 127, 1, 0.7732, 4.405), (-69, 127, 3.728, 1.251, 6.715),
            (-82, 127, 20.62, 3.093, .infinity),
        ] as [(Int8, Int8, Double, Double, Double)])
    func ofBeacon(rssi: Int8, power: Int8, distance: Double, nearest: Double, farthest: Double) throws {
        func isClose(_ value: Double, _ expected: Double) -> Bool {
            value == expected || abs(value - expected) < 0.002 * expected
        }
        var engine = Engine()
        _ = engine.startRanging(nil)
        engine.hear(from: 0.05, to: 20, every: 0.1) { .of(at: $0, rssi: rssi, power: power) }
        engine.advance(to: .at(20))
        let beacon = try #require(engine.reports().last?.beacons.first)
        let range = try #require(beacon.accuracyRange)
        #expect(isClose(beacon.accuracy, distance), "\(beacon.accuracy)")
        #expect(isClose(range.lowerBound, nearest) && isClose(range.upperBound, farthest), "\(range)")
        #expect((beacon.leastDistance != nil) == (farthest == .infinity))
    }

    @Test("A calibrated beacon that claims no power has the narrower range")
    func calibrated() throws {
        var configuration = EngineConfiguration()
        let identity = Sighting.of(at: 0).identity
        configuration.beaconCalibrations = [identity: BeaconCalibration(power: -59)]
        var engine = Engine(configuration: configuration)
        _ = engine.startRanging(nil)
        engine.hear(from: 0.05, to: 20, every: 0.1) { .of(at: $0, rssi: -59, power: 127) }
        engine.advance(to: .at(20))
        let range = try #require(engine.reports().last?.beacons.first?.accuracyRange)
        #expect(abs(range.lowerBound - 0.6938) < 0.001 && abs(range.upperBound - 2.3294) < 0.001)
    }
}
