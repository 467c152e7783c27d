import AdvertCorpus
import BeaconModel

/// The additional cost of locating beacons, per advert, for an engine that ranges them.
struct PlacesCase {
    let rounds: Int

    func run(counts: [Int]) -> [Measured] {
        counts.map { count in
            let corpus = Corpus(beacons: count, atLeast: 400_000)
            // Whole seconds, because each ends with a decision for every beacon.
            let duration = Int64(corpus.adverts.count) * corpus.step
            let second: Int64 = 1_000_000_000
            let passes = max(1, Int((second + duration - 1) / duration))
            var ranging = EngineRun(regions: [], isRanging: true)
            var locating = EngineRun(regions: [], isRanging: true, isLocating: true)
            ranging.receive(corpus, passes: passes)
            locating.receive(corpus, passes: passes)
            var (with, without) = (Samples(), Samples())
            let adverts = passes * corpus.adverts.count
            for _ in 0..<rounds {
                with.add(
                    nanoseconds: Stopwatch.nanoseconds { locating.receive(corpus, passes: passes) }, adverts: adverts)
                without.add(
                    nanoseconds: Stopwatch.nanoseconds { ranging.receive(corpus, passes: passes) }, adverts: adverts)
            }
            precondition(locating.placedCount == count, "beacons are in no place")
            return Measured(
                name: "places/\(count)", meaning: "ns per advert more than ranging, \(count) beacons",
                value: with.median - without.median, swift: with.median, reference: without.median)
        }
    }
}
