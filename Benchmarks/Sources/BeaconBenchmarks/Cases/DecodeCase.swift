import AdvertCorpus
import BeaconModel
import CReference

/// The decoder alone in comparison with the reference decoder.
struct DecodeCase {
    let rounds: Int

    func run() -> [Measured] {
        [
            measure("decode/mixed", "Swift / C, decoding, half iBeacons", Corpus(beacons: 10_000, atLeast: 400_000)),
            measure(
                "decode/foreign", "Swift / C, decoding, 1 iBeacon in 1000",
                Corpus(beacons: 400, foreignShare: 999, atLeast: 400_000)),
        ]
    }

    private func measure(_ name: String, _ meaning: String, _ corpus: Corpus) -> Measured {
        var swift = Samples()
        var reference = Samples()
        let adverts = corpus.adverts.count
        var sums: (UInt64, UInt64) = (Self.sum(corpus), 0)
        for _ in 0..<rounds {
            swift.add(nanoseconds: Stopwatch.nanoseconds { sums.0 = Self.sum(corpus) }, adverts: adverts)
            reference.add(
                nanoseconds: Stopwatch.nanoseconds {
                    sums.1 = reference_decode(corpus.bytes, corpus.adverts, corpus.adverts.count)
                }, adverts: adverts)
            precondition(sums.0 == sums.1, "the two decoders disagree")
        }
        return Measured(
            name: name, meaning: meaning, value: swift.ratio(to: reference), swift: swift.median,
            reference: reference.median)
    }

    private static func sum(_ corpus: borrowing Corpus) -> UInt64 {
        let bytes = corpus.bytes.span.bytes
        var sum: UInt64 = 0
        for index in corpus.adverts.indices {
            let start = Int(corpus.adverts[index].offset)
            let advert = bytes.extracting(start..<start + Int(corpus.adverts[index].count))
            guard let frame = IBeaconFrame(advert: advert) else { continue }
            sum &+= frame.identity.uuid.high &+ frame.identity.uuid.low &+ UInt64(frame.identity.major)
            sum &+= UInt64(frame.identity.minor) &+ UInt64(bitPattern: Int64(frame.measuredPower))
        }
        return sum
    }
}
