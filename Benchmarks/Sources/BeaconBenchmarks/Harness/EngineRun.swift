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

    /// Does with each advert what a session does: decode it, tell the engine of it and of the time, take what happened.
    mutating func receive(_ corpus: borrowing Corpus, passes: Int = 1) {
        let bytes = corpus.bytes.span.bytes
        for _ in 0..<passes {
            for index in corpus.adverts.indices {
                let record = corpus.adverts[index]
                let start = Int(record.offset)
                let advert = bytes.extracting(start..<start + Int(record.count))
                if let frame = IBeaconFrame(advert: advert) {
                    engine.receive(
                        Sighting(
                            time: Timestamp(nanoseconds: time),
                            receiver: ReceiverID(record.receiver),
                            address: DeviceAddress(bits: record.address, kind: .random),
                            identity: frame.identity,
                            measuredPower: frame.measuredPower,
                            rssi: SignalStrength(rawValue: record.rssi)))
                    foundCount += 1
                } else {
                    engine.advance(upTo: Timestamp(nanoseconds: time))
                }
                if engine.hasEvents { takeEvents() }
                time += corpus.step
            }
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
