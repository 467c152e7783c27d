import BeaconEngine
import BeaconModel
import Testing

@Suite("Calibration")
struct CalibrationTests {
    /// Returns the beacon of the last report after `seconds` with ten adverts a second.
    private func range(
        _ rssi: Int8, power: Int8 = -59, seconds: Int = 20, beacon: BeaconCalibration? = nil,
        receiver: ReceiverCalibration? = nil, exponent: Double? = nil
    ) throws -> RangedBeacon {
        var configuration = EngineConfiguration()
        if let exponent { configuration.strategy.distance.outerExponent = exponent }
        let sighting = Sighting.of(at: 0, rssi: rssi, power: power)
        if let beacon { configuration.beaconCalibrations = [sighting.identity: beacon] }
        var engine = Engine(configuration: configuration)
        if let receiver { engine.setCalibration(receiver, of: ReceiverID(0)) }
        _ = engine.startRanging(nil)
        engine.hear(from: 0.05, to: Double(seconds), every: 0.1) { .of(at: $0, rssi: rssi, power: power) }
        engine.advance(to: .at(Double(seconds)))
        return try #require(engine.reports().last?.beacons.first)
    }

    private func isClose(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) < 0.01 * expected }

    @Test("A beacon's measured power replaces its claim, even if it claims none")
    func beaconPower() throws {
        #expect(isClose(try range(-79).accuracy, 13.895))
        #expect(isClose(try range(-79, beacon: BeaconCalibration(power: -69)).accuracy, 3.728))
        #expect(isClose(try range(-79, power: 0).accuracy, 13.895))
        #expect(isClose(try range(-79, power: 0, beacon: BeaconCalibration(power: -69)).accuracy, 3.728))
    }

    @Test("A second point at three meters sets the slope of its signal")
    func secondPoint() throws {
        // 14.3 dB from one meter to three is an exponent of three.
        let steep = BeaconCalibration(power: -59, lossToThreeMeters: 14.314)
        #expect(isClose(try range(-73, beacon: steep).accuracy, 2.929))
        #expect(isClose(try range(-59 - 14, beacon: nil).accuracy, 6.310))
        // Within a meter it has no effect.
        #expect(try range(-50, beacon: steep).accuracy == range(-50).accuracy)
        // Implausible values are limited to an exponent of four.
        let absurd = BeaconCalibration(power: -59, lossToThreeMeters: 60)
        #expect(isClose(try range(-79, beacon: absurd).accuracy, 3.163))
    }

    @Test("A site's exponent changes distances beyond a meter, their ranges, and no beacon with a measured slope")
    func exponent() throws {
        let open = try range(-79, exponent: 2)
        #expect(isClose(open.accuracy, 10))
        let (range, expected) = (try #require(open.accuracyRange), DistanceUncertainty.range(of: 10))
        #expect(isClose(range.lowerBound, expected.lowerBound) && isClose(range.upperBound, expected.upperBound))
        #expect(try self.range(-50, exponent: 2).accuracy == self.range(-50).accuracy)
        let steep = BeaconCalibration(power: -59, lossToThreeMeters: 14.314)
        #expect(isClose(try self.range(-73, beacon: steep, exponent: 2).accuracy, 2.929))
    }

    @Test("A receiver's offset is subtracted from its readings")
    func offset() throws {
        #expect(isClose(try range(-69, receiver: ReceiverCalibration(offset: 10)).accuracy, 13.895))
        #expect(isClose(try range(-69, receiver: ReceiverCalibration(offset: -10)).accuracy, 1))
    }

    @Test("A level near the receiver's floor is farther than it seems, a higher one is not, and weaker is never nearer")
    func floor() throws {
        // At four decibels above the floor, two are missing.
        #expect(isClose(try range(-91, power: -85, seconds: 3).accuracy, 2.865))
        #expect(isClose(try range(-86, power: -80).accuracy, 2.202))
        var last = 0.0
        for rssi in stride(from: Int8(-70), through: -110, by: -1) {
            let accuracy = try range(rssi, power: -85, seconds: 3).accuracy
            #expect(accuracy > last)
            last = accuracy
        }
    }

    @Test("A receiver that hears weaker signals has a lower floor")
    func learnedFloor() throws {
        var engine = Engine()
        _ = engine.startRanging(nil)
        for second in 0..<60 {
            for tenth in 0..<10 {
                let time = Double(second) + Double(tenth) / 10 + 0.05
                engine.receive(.of(minor: 1, at: time, rssi: -110, power: -85, address: 1))
                engine.receive(.of(minor: 2, at: time, rssi: -91, power: -85, address: 2))
            }
        }
        engine.advance(to: .at(60))
        let beacon = try #require(engine.reports().last?.beacons.first { $0.identity.minor == 2 })
        #expect(isClose(beacon.accuracy, 2.202))
    }
}
