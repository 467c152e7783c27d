import BeaconEngine
import BeaconModel
import Testing

@Suite("Signal spread")
struct SignalSpreadTests {
    private func spread(_ readings: [Int8]) -> SignalSpread {
        var spread = SignalSpread()
        for reading in readings { spread.add(SignalStrength(rawValue: reading)) }
        return spread
    }

    @Test("Without readings, there is no mean and no quantile")
    func empty() {
        #expect(SignalSpread().trimmedMean == nil)
        #expect(SignalSpread().quantile(0.5) == nil)
    }

    @Test("A single reading is the mean and every quantile")
    func single() {
        #expect(spread([-60]).trimmedMean == -60)
        #expect(spread([-60]).quantile(0) == -60)
        #expect(spread([-60]).quantile(1) == -60)
    }

    @Test("The highest and the lowest tenth do not count for the mean")
    func trimming() {
        #expect(spread([-127, -60, -61, -59, -60, -60, -61, -59, -60, -1]).trimmedMean == -60)
    }

    @Test("A run of equal readings may be trimmed in its middle")
    func cutInsideARun() {
        // Twenty readings: two are trimmed at either end, so that two of the four at -70 are left.
        let readings = [Int8](repeating: -70, count: 4) + [Int8](repeating: -60, count: 16)
        #expect(spread(readings).trimmedMean == -61.25)
    }

    @Test("An advert without a reading does not count", arguments: [Int8(127), 100, 21, 20, 0])
    func unreadable(reading: Int8) {
        let spread = spread([-50, reading])
        #expect(spread.count == 1)
        #expect(spread.trimmedMean == -50)
    }

    @Test("Quantiles are existing readings")
    func quantiles() {
        let spread = spread([-80, -70, -60, -50, -40])
        let found: [Int?] = [0, 0.25, 0.5, 0.75, 1].map(spread.quantile)
        #expect(found == [-80, -70, -60, -50, -40])
    }
}
