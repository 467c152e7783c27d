import AdvertCorpus
import BeaconEngine
import BeaconModel
import CReference

/// An engine and its current time, for repeated runs over a corpus.
struct EngineRun: ~Copyable {
    private var engine: Engine
    private var time: Int64 = 0

    /// The counts of the results, so that the compiler cannot remove any work as unused.
    private(set) var foundCount = 0
    private(set) var rangedCount = 0
    private(set) var reportCount = 0
    private(set) var placedCount = 0

    /// The maximum number of adverts that a radio's driver reads at once.
    static let radioBatch = Engine.maximumExpected

    /// The number of adverts in a batch, including foreign adverts.
    private let batchSize: Int
    private var room: [Sighting] = []

    init(regions: [BeaconConstraint], isRanging: Bool, isLocating: Bool = false, batch: Int = EngineRun.radioBatch) {
        batchSize = min(batch, Engine.maximumExpected)
        room.reserveCapacity(batchSize)
        var configuration = EngineConfiguration()
        // A fixed seed, so that each run has the same hash table layout.
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

    /// Processes the adverts like a radio and a center: decodes a batch, passes its iBeacons and the time to the
    /// engine, and takes the events.
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
                    if engine.hasEvents { drainEvents() }
                }
                batch.removeAll(keepingCapacity: true)
                engine.advance(upTo: Timestamp(nanoseconds: time - corpus.step))
                if engine.hasEvents { drainEvents() }
                start = end
            }
        }
    }

    /// Processes each advert like a session that plays a file.
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
                if engine.hasEvents { drainEvents() }
                time += corpus.step
            }
        }
    }

    /// Decodes adverts like a radio's driver.
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
    private mutating func drainEvents() {
        for event in engine.drainEvents() {
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
