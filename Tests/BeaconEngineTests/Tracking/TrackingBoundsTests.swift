import BeaconEngine
import BeaconModel
import Testing

@Suite("Tracking")
struct TrackingBoundsTests {
    private let everyone = BeaconConstraint(uuid: .test)

    @Test("Adverts that match no request leave no state")
    func foreign() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: .test, major: 7)))
        for index in 0..<1000 { engine.receive(.of(minor: UInt16(index), at: 1, address: UInt64(index))) }
        #expect(engine.trackedBeacons == 0)
        #expect(engine.statistics.unmatched == 1000)
    }

    @Test("No more beacons are tracked than allowed, regions stay correct, and a heard beacon is kept")
    func bound() {
        var engine = Engine.holding(100)
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        _ = engine.startRanging(everyone)
        for index in 0..<50_000 {
            let time = Double(index) / 1000
            if index % 10 == 0 { engine.receive(.of(minor: 1, at: time, address: 1)) }
            engine.receive(.of(minor: 2, at: time, address: 0x10_0000 + UInt64(index)))
        }
        #expect(engine.trackedBeacons <= 100)
        #expect(engine.statistics.evicted > 40_000)
        let events = engine.drainEvents()
        var regionChanges = 0
        for event in events {
            guard case .ranged(let report) = event else {
                regionChanges += 1
                continue
            }
            #expect(report.beacons.count <= 100)
            #expect(report.beacons.contains { $0.address.bits == 1 })
        }
        #expect(regionChanges == 1)
    }

    @Test("Beacons that are gone for long make room without affecting others")
    func forgetting() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        // A new address each second for an hour: only the addresses of the last five minutes are remembered.
        for second in 0..<3600 { engine.receive(.of(at: Double(second), address: UInt64(second))) }
        #expect(engine.trackedBeacons < 700)
        #expect(engine.regionEvents() == ["enter 0.0"])
    }

    @Test("The same input gives the same output, whatever the hash seed")
    func determinism() {
        func run(seed: UInt64) -> [EngineEvent] {
            var configuration = EngineConfiguration()
            configuration.hashSeed = seed
            // Beacons are evicted all the time.
            configuration.maximumTrackedBeacons = 10
            var engine = Engine(configuration: configuration)
            _ = engine.startRanging(nil)
            _ = engine.startMonitoring(MonitoredRegion(everyone, minimumRSSI: -75, exitTimeout: .seconds(3)))
            var state: UInt64 = 7
            for index in 0..<20_000 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let minor = UInt16(state >> 60)
                let time = Double(index) / 500 + (index > 10_000 ? 60 : 0)
                if index % 1000 == 0 {
                    engine.setHearing(index % 3000 != 0, of: ReceiverID(minor % 2), at: .at(time))
                }
                engine.receive(
                    .of(
                        minor: minor, at: time, rssi: -50 - Int8(state >> 58 & 3) * 8, address: UInt64(minor),
                        receiver: minor % 2))
            }
            engine.advance(to: .at(200))
            return engine.drainEvents()
        }
        let first = run(seed: 0)
        #expect(first == run(seed: 0))
        #expect(first == run(seed: 0xDEAD_BEEF))
        #expect(first == run(seed: EngineConfiguration().hashSeed))
        #expect(!first.isEmpty)
    }

    @Test("Random sightings of many beacons give the same result as a dictionary")
    func table() {
        var engine = Engine.holding(1 << 20)
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        var known: Set<UInt64> = []
        var state: UInt64 = 99
        for index in 0..<200_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let address = state >> 47
            known.insert(address)
            engine.receive(.of(at: Double(index) / 1e6, address: address))
        }
        #expect(engine.trackedBeacons == known.count)
    }

    @Test("Endless adding and removing of regions needs only memory for the regions at one time")
    func slots() {
        var engine = Engine()
        var seen: Set<RegionID> = []
        for index in 0..<10_000 {
            let region = engine.startMonitoring(MonitoredRegion(everyone))
            #expect(seen.insert(region).inserted)
            engine.receive(.of(at: Double(index)))
            engine.stopMonitoring(region)
        }
        #expect(engine.regionEvents().count == 10_000)
    }

    @Test("Each configuration has a different hash seed")
    func seeds() {
        #expect(Set((0..<10).map { _ in EngineConfiguration().hashSeed }).count == 10)
    }

    @Test("Receivers beyond the limit are counted and have no reports, but enter and keep regions")
    func receivers() {
        var configuration = EngineConfiguration()
        configuration.maximumReceivers = 3
        var engine = Engine(configuration: configuration)
        _ = engine.startRanging(everyone)
        _ = engine.startMonitoring(MonitoredRegion(everyone, receiver: ReceiverID(40_000)))
        for _ in 0..<2 {
            for receiver in [7, 1, 65_535, 40_000, 2] as [UInt16] {
                engine.receive(.of(at: 0.5, address: UInt64(receiver), receiver: receiver))
            }
        }
        engine.setHearing(false, of: ReceiverID(40_000), at: .at(0.6))
        engine.advance(to: .at(60))
        #expect(engine.statistics.refusedReceivers == 2)
        var reporting: Set<UInt16> = []
        var changes: [String] = []
        for event in engine.drainEvents() {
            switch event {
            case .ranged(let report):
                reporting.insert(report.receiver.index)
                guard report.time == .at(1) else { continue }
                #expect(report.beacons.map(\.address.bits) == [UInt64(report.receiver.index)])
            case .entered(let change): changes.append("enter \(change.time.seconds)")
            case .exited(let change): changes.append("exit \(change.time.seconds)")
            case .determined, .placed, .located, .uncalibrated: Issue.record("nothing is determined")
            }
        }
        #expect(reporting == [7, 1, 65_535])
        #expect(changes == ["enter 0.5", "exit 30.5"])
    }

    @Test("A log with every possible receiver causes no more reports than the limit allows")
    func manyReceivers() {
        var engine = Engine()
        _ = engine.startRanging(nil)
        for receiver in 0...UInt16.max { engine.receive(.of(at: 0.5, receiver: receiver)) }
        engine.advance(to: .at(3))
        let reports = engine.reports()
        #expect(reports.count == 3 * 256)
        #expect(reports.allSatisfy { $0.beacons.count == 1 || $0.time > .at(3) })
        #expect(engine.statistics.refusedReceivers == 65_536 - 256)
    }
}
