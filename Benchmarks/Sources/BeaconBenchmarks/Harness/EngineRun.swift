import AdvertCorpus
import BeaconEngine
import BeaconModel

/// An engine and the time that it has come to, ready to hear a corpus again and again.
struct EngineRun: ~Copyable {
    private var engine: Engine
    private var time: Int64 = 0

    /// What was heard and said, so that no work can be left out as unused.
    private(set) var foundCount = 0
    private(set) var rangedCount = 0
    private(set) var reportCount = 0
    private(set) var placedCount = 0

    /// The most adverts that a radio's driver reads at once.
    static let largestBatch = 64

    init(regions: [BeaconConstraint], isRanging: Bool, isLocating: Bool = false) {
        var configuration = EngineConfiguration()
        // Each run is to place beacons alike.
        configuration.hashSeed = 0
        configuration.maximumTrackedBeacons = 2_000_000
        engine = Engine(configuration: configuration)
        for region in regions { _ = engine.startMonitoring(MonitoredRegion(region)) }
        if isRanging { _ = engine.startRanging(nil) }
        if isLocating {
            engine.startLocating(PlaceMap(placeCount: 1, receivers: [0]), [nil])
            engine.setReceiver(ReceiverID(0), of: 0)
        }
    }

    var trackedBeacons: Int { engine.trackedBeacons }

    /// Does with the adverts what a radio and a center do: decode a batch, tell the engine of its iBeacons and of the
    /// time, take what happened.
    mutating func receive(_ corpus: borrowing Corpus, passes: Int = 1) {
        var batch: [Sighting] = []
        batch.reserveCapacity(Self.largestBatch)
        for _ in 0..<passes {
            var start = 0
            while start < corpus.adverts.count {
                let end = min(start + Self.largestBatch, corpus.adverts.count)
                Self.decode(corpus, start..<end, from: time, into: &batch)
                time += Int64(end - start) * corpus.step
                foundCount += batch.count
                if batch.count > 1 { engine.expect(batch.span) }
                for sighting in batch {
                    engine.receive(sighting)
                    if engine.hasEvents { takeEvents() }
                }
                batch.removeAll(keepingCapacity: true)
                engine.advance(upTo: Timestamp(nanoseconds: time - corpus.step))
                if engine.hasEvents { takeEvents() }
                start = end
            }
        }
    }

    /// Decodes adverts as a radio's driver does.
    private static func decode(
        _ corpus: borrowing Corpus, _ adverts: Range<Int>, from time: Int64, into batch: inout [Sighting]
    ) {
        let bytes = corpus.bytes.span.bytes
        var time = time
        for index in adverts {
            let record = corpus.adverts[index]
            let start = Int(record.offset)
            if let frame = IBeaconFrame(advert: bytes.extracting(start..<start + Int(record.count))) {
                batch.append(
                    Sighting(
                        time: Timestamp(nanoseconds: time),
                        receiver: ReceiverID(record.receiver),
                        address: DeviceAddress(bits: record.address, kind: .random),
                        identity: frame.identity,
                        measuredPower: frame.measuredPower,
                        rssi: SignalStrength(rawValue: record.rssi)))
            }
            time += corpus.step
        }
    }

    @inline(never)
    private mutating func takeEvents() {
        for event in engine.takeEvents() {
            switch event {
            case .ranged(let report):
                reportCount += 1
                rangedCount += report.beacons.count
            case .placed: placedCount += 1
            default: break
            }
        }
    }
}
