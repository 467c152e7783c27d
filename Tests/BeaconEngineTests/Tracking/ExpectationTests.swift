import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

struct ExpectationTests {
    /// Returns an engine with the requests that both engines share.
    private func engine(of capacity: Int) -> Engine {
        var engine = Engine.holding(capacity)
        _ = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: ProximityUUID(high: 1, low: 0))))
        _ = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: ProximityUUID(high: 1, low: 1), major: 3)))
        _ = engine.startRanging(nil)
        return engine
    }

    private func sighting(_ random: inout SplitMix64, at time: Double) -> Sighting {
        .of(
            major: UInt16.random(in: 0...3, using: &random),
            uuid: ProximityUUID(high: 1, low: UInt64.random(in: 0...1, using: &random)), at: time,
            rssi: Int8.random(in: -90 ... -40, using: &random), address: UInt64.random(in: 0..<40, using: &random),
            receiver: UInt16.random(in: 0...1, using: &random))
    }

    @Test("A look ahead changes no result, whatever sightings follow", arguments: 0..<40)
    func changesNothing(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        // Some tables are too small, so that expected tracks are evicted before they are heard.
        let capacity = [10, 100, 1000].randomElement(using: &random) ?? 10
        var plain = engine(of: capacity)
        var ahead = engine(of: capacity)
        var time = 1.0
        for _ in 0..<60 {
            // A long silence, so that expected tracks are forgotten.
            if Int.random(in: 0..<20, using: &random) == 0 { time += 400 }
            let batch = (0..<Int.random(in: 0...Engine.maximumExpected, using: &random)).map { _ in
                time += Double.random(in: 0...0.2, using: &random)
                return sighting(&random, at: time)
            }
            // Usually the sightings that follow; otherwise another order, too few or other ones.
            let expected =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: batch.shuffled(using: &random)
                case 1: Array(batch.dropLast(3))
                case 2: batch.map { _ in sighting(&random, at: time) }
                default: batch
                }
            ahead.expect(expected.span)
            for sighting in batch {
                plain.receive(sighting)
                ahead.receive(sighting)
            }
            #expect("\(ahead.drainEvents())" == "\(plain.drainEvents())")
            #expect(ahead.trackedBeacons == plain.trackedBeacons)
            #expect(ahead.statistics == plain.statistics)
        }
    }
}
