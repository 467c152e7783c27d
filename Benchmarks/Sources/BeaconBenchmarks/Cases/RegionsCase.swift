import AdvertCorpus
import BeaconModel

/// The cost of regions: 10 000 beacons, each in one region, with 1, 100 or 10 000 regions.
struct RegionsCase {
    private static let beacons = 10_000

    let rounds: Int

    func run() -> [Measured] {
        let corpus = Corpus(beacons: Self.beacons, atLeast: 400_000)
        var one = EngineRun(regions: [BeaconConstraint(uuid: Corpus.uuid)], isRanging: false)
        var hundred = EngineRun(
            regions: (0..<Self.beacons / Corpus.beaconsPerMajor).map {
                BeaconConstraint(uuid: Corpus.uuid, major: UInt16($0))
            }, isRanging: false)
        var tenThousand = EngineRun(
            regions: (0..<Self.beacons).map { BeaconConstraint(Corpus.identity($0)) }, isRanging: false)
        one.receive(corpus)
        hundred.receive(corpus)
        tenThousand.receive(corpus)
        var samples = (Samples(), Samples(), Samples())
        let adverts = corpus.adverts.count
        for _ in 0..<rounds {
            samples.0.add(nanoseconds: Stopwatch.nanoseconds { one.receive(corpus) }, adverts: adverts)
            samples.1.add(nanoseconds: Stopwatch.nanoseconds { hundred.receive(corpus) }, adverts: adverts)
            samples.2.add(nanoseconds: Stopwatch.nanoseconds { tenThousand.receive(corpus) }, adverts: adverts)
        }
        return [(100, samples.1), (10_000, samples.2)].map { count, many in
            Measured(
                name: "regions/\(count)", meaning: "\(count) regions / 1 region (column C)",
                value: many.ratio(to: samples.0), swift: many.median, reference: samples.0.median)
        }
    }
}
