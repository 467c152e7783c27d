import AdvertCorpus
import BeaconEngine
import BeaconModel
import CReference

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
    static let radioBatch = Engine.mostExpected

    /// How many adverts come at once, the foreign ones too.
    private let batchSize: Int
    private var room: [Sighting] = []

    init(regions: [BeaconConstraint], isRanging: Bool, isLocating: Bool = false, batch: Int = EngineRun.radioBatch) {
        batchSize = min(batch, Engine.mostExpected)
        room.reserveCapacity(batchSize)
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
        if batchSize == 1 { return receiveOneByOne(corpus, passes: passes) }
        var batch: [Sighting] = []
        swap(&batch, &room)
        defer { room = batch }
        for _ in 0..<passes {
            var start = 0
            while start < corpus.adverts.count {
                let end = min(start + batchSize, corpus.adverts.count)
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

    /// Does with each advert what a session does that plays a file.
    private mutating func receiveOneByOne(_ corpus: borrowing Corpus, passes: Int) {
        let bytes = corpus.bytes.span.bytes
        for _ in 0..<passes {
            for index in corpus.adverts.indices {
                if let sighting = Self.sighting(corpus.adverts[index], in: bytes, at: time) {
                    engine.receive(sighting)
                    foundCount += 1
                } else {
                    engine.advance(upTo: Timestamp(nanoseconds: time))
                }
                if engine.hasEvents { takeEvents() }
                time += corpus.step
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
            if let sighting = Self.sighting(corpus.adverts[index], in: bytes, at: time) { batch.append(sighting) }
            time += corpus.step
        }
    }

    /// Returns the sighting of an advert; nil for a foreign one.
    @inline(__always)
    private static func sighting(_ record: reference_advert, in bytes: RawSpan, at time: Int64) -> Sighting? {
        let start = Int(record.offset)
        guard let frame = IBeaconFrame(advert: bytes.extracting(start..<start + Int(record.count))) else { return nil }
        return Sighting(
            time: Timestamp(nanoseconds: time),
            receiver: ReceiverID(record.receiver),
            address: DeviceAddress(bits: record.address, kind: .random),
            identity: frame.identity,
            measuredPower: frame.measuredPower,
            rssi: SignalStrength(rawValue: record.rssi))
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
