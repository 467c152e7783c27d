import AdvertCorpus
import BeaconModel
import CAllocationCounter

/// Heap allocations in the steady state: all beacons are known and no constraint changes.
struct AllocationCase {
    private static let beacons = 10_000

    func run() -> [Measured] {
        checkCounter()
        let corpus = Corpus(beacons: Self.beacons, atLeast: 400_000)
        var monitoring = EngineRun(regions: [BeaconConstraint(uuid: Corpus.uuid)], isRanging: false)
        monitoring.receive(corpus)
        let inMonitoring = Self.allocations { monitoring.receive(corpus) }

        var ranging = EngineRun(regions: [BeaconConstraint(uuid: Corpus.uuid)], isRanging: true)
        ranging.receive(corpus)
        let reports = ranging.reportCount
        let inRanging = Self.allocations { ranging.receive(corpus) }
        return [
            Measured(
                name: "allocations/monitoring", meaning: "allocations per advert",
                value: Double(inMonitoring) / Double(corpus.adverts.count)),
            Measured(
                name: "allocations/report", meaning: "allocations per ranging report of 10 000 beacons, with adverts",
                value: Double(inRanging) / Double(ranging.reportCount - reports)),
        ]
    }

    private static func allocations(_ body: () -> Void) -> UInt64 {
        let before = allocation_count()
        body()
        return allocation_count() - before
    }

    /// Checks the counter, because a broken counter would report zero allocations.
    private func checkCounter() {
        var kept: [[UInt8]] = []
        kept.reserveCapacity(100)
        let counted = Self.allocations {
            for number in 0..<100 { kept.append([UInt8](repeating: UInt8(number), count: 1000)) }
        }
        precondition(kept.count == 100 && counted == 100, "the counter saw \(counted) of 100 allocations")
    }
}
