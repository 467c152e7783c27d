import AdvertCorpus
import BeaconModel

/// The complete path of an advert through decoder and engine in comparison with the reference in C, for growing numbers
/// of beacons.
struct ReceiveCase {
    let isRanging: Bool
    let rounds: Int
    let batch: Int

    private var family: String { isRanging ? "ranging" : "monitoring" }

    func run(counts: [Int]) -> [Measured] {
        var results: [Measured] = []
        for count in counts {
            let (swift, reference) = measure(count)
            results.append(
                Measured(
                    name: "receive/\(family)/\(count)", meaning: "Swift / C, \(count) beacons",
                    value: swift.ratio(to: reference), swift: swift.median, reference: reference.median))
        }
        // The goal applies to these two.
        if counts.first == 100, counts.last == 1_000_000, let small = results.first, let large = results.last,
            let smallSwift = small.swift, let largeSwift = large.swift,
            let smallReference = small.reference, let largeReference = large.reference
        {
            results.append(
                Measured(
                    name: "growth/\(family)", meaning: "growth from 100 to 1 000 000 beacons, Swift's / C's",
                    value: (largeSwift / smallSwift) / (largeReference / smallReference),
                    swift: largeSwift / smallSwift, reference: largeReference / smallReference))
        }
        return results
    }

    private func measure(_ beacons: Int) -> (swift: Samples, reference: Samples) {
        let corpus = Corpus(beacons: beacons, atLeast: 400_000)
        // A round must take a whole number of seconds, so that all rounds have the same number of reports.
        let duration = Int64(corpus.adverts.count) * corpus.step
        let second: Int64 = 1_000_000_000
        let passes = isRanging ? max(1, Int((second + duration - 1) / duration)) : 1
        var engine = EngineRun(regions: [BeaconConstraint(uuid: Corpus.uuid)], isRanging: isRanging, batch: batch)
        var reference = ReferenceRun(beacons: beacons)
        engine.receive(corpus, passes: passes)
        reference.receive(corpus, passes: passes)
        precondition(engine.trackedBeacons == beacons && reference.trackedBeacons == beacons, "beacons are missing")
        var swiftSamples = Samples()
        var referenceSamples = Samples()
        let adverts = passes * corpus.adverts.count
        for _ in 0..<rounds {
            swiftSamples.add(
                nanoseconds: Stopwatch.nanoseconds { engine.receive(corpus, passes: passes) }, adverts: adverts)
            referenceSamples.add(
                nanoseconds: Stopwatch.nanoseconds { reference.receive(corpus, passes: passes) }, adverts: adverts)
        }
        precondition(engine.foundCount == (rounds + 1) * passes * corpus.iBeaconCount, "iBeacons are missing")
        precondition(!isRanging || engine.rangedCount >= rounds * beacons, "reports are missing")
        return (swiftSamples, referenceSamples)
    }
}
