import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Ranging")
struct RangingTests {
    private let allBeacons = BeaconConstraint(uuid: .test)

    @Test("There is a report each whole second, even an empty one")
    func cadence() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.addReceiver(ReceiverID(0))
        engine.advance(to: .at(0.5))
        engine.advance(to: .at(5.5))
        let reports = engine.reports()
        #expect(reports.map(\.time.seconds) == [1, 2, 3, 4, 5])
        #expect(reports.allSatisfy { $0.beacons.isEmpty })
    }

    @Test("A report includes adverts up to and including its second")
    func boundary() throws {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.receive(.of(minor: 1, at: 0.5))
        engine.receive(.of(minor: 2, at: 1, address: 2))
        engine.receive(.of(minor: 3, at: 1.000_000_001, address: 3))
        engine.advance(to: .at(1.5))
        let report = try #require(engine.reports().first)
        #expect(report.time == .at(1))
        #expect(report.beacons.map(\.identity.minor).sorted() == [1, 2])
    }

    @Test("The signal of a report is the mean of its second")
    func meanSignal() throws {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        for (time, rssi) in [(0.1, -60), (0.2, -70), (0.3, -71)] as [(Double, Int8)] {
            engine.receive(.of(at: time, rssi: rssi))
        }
        engine.receive(.of(at: 1.5, rssi: -50))
        engine.advance(to: .at(2))
        #expect(engine.reports().map { $0.beacons.map(\.rssi) } == [[-67], [-50]])
    }

    @Test("The nearest beacon is first, and beacons of unknown distance are last")
    func order() throws {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.receive(.of(minor: 1, at: 0.1, rssi: 127, address: 1))
        engine.receive(.of(minor: 2, at: 0.2, rssi: -80, address: 2))
        engine.receive(.of(minor: 3, at: 0.3, rssi: -50, address: 3))
        engine.receive(.of(minor: 4, at: 0.4, rssi: -65, address: 4))
        engine.advance(to: .at(1))
        let beacons = try #require(engine.reports().first).beacons
        #expect(beacons.map(\.identity.minor) == [3, 4, 2, 1])
        #expect(beacons.last?.accuracy == -1)
        #expect(beacons.last?.rssi == 0)
        #expect(beacons.map(\.proximity) == [.immediate, .near, .far, .unknown])
    }

    @Test("Unheard for 2 s, a beacon is unknown; unheard for 10 s, it is gone")
    func retention() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.05, to: 2, every: 0.1) { .of(at: $0) }
        engine.advance(to: .at(20))
        let reports = engine.reports()
        let words = reports.map { report in report.beacons.first.map { "\($0.proximity)" } ?? "-" }
        #expect(words.prefix(3) == ["near", "near", "near"])
        // Last heard at 1.95: unknown from the report at 4 on, gone from the report at 12 on.
        #expect(Array(words[3..<11]) == Array(repeating: "unknown", count: 8))
        #expect(words[11...].allSatisfy { $0 == "-" })
    }

    @Test("A beacon that advertises every 4 s is not unknown in between")
    func slowBeacon() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.5, to: 60.5, every: 4) { .of(at: $0) }
        let reports = engine.reports()
        #expect(reports.dropFirst(5).allSatisfy { $0.beacons.first?.proximity == .near })
    }

    @Test("A beacon that advertises every 12 s is gone twice, and then its interval is known")
    func verySlowBeacon() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.5, to: 120.5, every: 12) { .of(at: $0) }
        let reports = engine.reports()
        #expect(reports.dropFirst(24).allSatisfy { $0.beacons.first?.proximity == .near })
    }

    @Test("Beacons stay listed in seconds without adverts")
    func missedSeconds() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.1, to: 30, every: 1.4) { .of(at: $0) }
        let reports = engine.reports()
        #expect(
            reports.dropFirst(3).allSatisfy { $0.beacons.first?.proximity == .near && $0.beacons.first?.rssi == -60 })
    }

    @Test("A change of address makes two beacons; the old one is unknown within 2 s and gone within 10 s")
    func addressRotation() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0, to: 10, every: 0.1) { .of(at: $0, address: 1) }
        engine.hear(from: 10.1, to: 25, every: 0.1) { .of(at: $0, address: 2) }
        for report in engine.reports() where report.time > .at(12) {
            let old = report.beacons.first { $0.address.bits == 1 }
            let new = report.beacons.first { $0.address.bits == 2 }
            #expect(new?.proximity == .near)
            #expect(old == nil || old?.proximity == .unknown)
            if report.time >= .at(20) { #expect(old == nil) }
            if report.time < .at(20) { #expect(old != nil) }
        }
    }

    @Test("Two devices of one identity are two beacons for ranging and one for monitoring")
    func twins() throws {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        _ = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: .test, major: 1, minor: 1)))
        engine.receive(.of(at: 0.1, rssi: -50, address: 1))
        engine.receive(.of(at: 0.2, rssi: -80, address: 2))
        engine.advance(to: .at(1))
        let events = engine.drainEvents()
        let entered = events.filter { if case .entered = $0 { true } else { false } }
        #expect(entered.count == 1)
        guard case .ranged(let report) = try #require(events.last) else { return }
        #expect(report.beacons.map(\.address.bits) == [1, 2])
    }

    @Test("Each request and each receiver has a separate report, and a beacon is in each that it satisfies")
    func requestsAndReceivers() {
        var engine = Engine()
        let all = engine.startRanging(nil)
        let one = engine.startRanging(BeaconConstraint(uuid: .test, major: 1, minor: 1))
        engine.receive(.of(minor: 1, at: 0.1, receiver: 0))
        engine.receive(.of(minor: 2, at: 0.2, address: 2, receiver: 1))
        engine.advance(to: .at(1))
        let reports = engine.reports()
        #expect(reports.count == 4)
        func minors(_ ranging: RangingID, _ receiver: UInt16) -> [UInt16]? {
            reports.first { $0.ranging == ranging && $0.receiver == ReceiverID(receiver) }?.beacons.map(
                \.identity.minor)
        }
        #expect(minors(all, 0) == [1])
        #expect(minors(one, 0) == [1])
        #expect(minors(all, 1) == [2])
        #expect(minors(one, 1) == [])
    }

    @Test("A later request lists beacons that are already present")
    func laterRequest() throws {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.receive(.of(at: 0.1))
        engine.advance(to: .at(0.5))
        let later = engine.startRanging(BeaconConstraint(uuid: .test, major: 1))
        engine.advance(to: .at(1))
        let report = try #require(engine.reports().first { $0.ranging == later })
        #expect(report.beacons.count == 1)
    }

    @Test("After the last request is stopped, there are no reports; a new one begins without history")
    func stop() {
        var engine = Engine()
        let ranging = engine.startRanging(allBeacons)
        engine.receive(.of(at: 0.1))
        engine.stopRanging(ranging)
        engine.stopRanging(ranging)
        engine.advance(to: .at(5))
        #expect(engine.reports().isEmpty)
        let again = engine.startRanging(allBeacons)
        engine.receive(.of(at: 5.5))
        engine.advance(to: .at(6))
        let reports = engine.reports()
        #expect(reports.map(\.ranging) == [again])
        #expect(reports.first?.beacons.count == 1)
    }

    @Test("With an empty list, reports continue for 10 s of silence, and a gap of a century is skipped in one step")
    func jump() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.1, to: 3, every: 0.1) { .of(at: $0) }
        engine.receive(.of(at: 3_000_000_000.5, address: 2))
        let times = engine.reports().map(\.time.seconds)
        // Gone at 13, since last heard at 3.0: ten more reports follow the last one that listed it.
        #expect(times == (1...22).map(Double.init))
        engine.advance(to: .at(3_000_000_002))
        #expect(engine.reports().map(\.time.seconds) == [3_000_000_001, 3_000_000_002])
    }

    @Test("If time advances second by second, silence is reported second by second")
    func reportedSilence() {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.addReceiver(ReceiverID(0))
        for second in 0...100 { engine.advance(to: .at(Double(second))) }
        #expect(engine.reports().count == 101)
    }

    @Test("Adverts without a reading list a beacon at unknown distance", arguments: [127, 126, 20, 1, 0])
    func unread(rssi: Int8) {
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        engine.hear(from: 0.05, to: 10, every: 0.1) { .of(at: $0, rssi: rssi) }
        engine.advance(to: .at(10))
        let reports = engine.reports()
        #expect(reports.count == 10)
        for beacon in reports.map(\.beacons.first) {
            #expect(beacon?.proximity == .unknown && beacon?.accuracy == -1 && beacon?.rssi == 0)
        }
    }

    @Test("A beacon whose adverts lose their readings is unknown after 2 s or 3 gaps, until the next reading")
    func lostReadings() {
        for (gap, seconds) in [(0.1, 2.0...4.0), (4.0, 8.0...16.0)] {
            var engine = Engine()
            _ = engine.startRanging(allBeacons)
            engine.hear(from: 0.05, to: 40, every: gap) { .of(at: $0) }
            engine.hear(from: 40.05, to: 80, every: gap) { .of(at: $0, rssi: 0) }
            engine.hear(from: 80.05, to: 100, every: gap) { .of(at: $0) }
            let beacons = engine.reports().map { ($0.time.seconds, $0.beacons.first?.proximity) }
            let lost = beacons.first { $0.0 > 40 && $0.1 == .unknown }?.0 ?? 0
            #expect(seconds.contains(lost - 40))
            // A slow beacon is not recognized before its second advert.
            for (time, proximity) in beacons where time > 8 {
                #expect(proximity == (time >= lost && time <= 80 ? .unknown : .near))
            }
        }
    }

    @Test("Unknown proximity, accuracy -1 and RSSI 0 always occur together", arguments: 0..<40)
    func unknown(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed) + 5)
        var engine = Engine()
        _ = engine.startRanging(allBeacons)
        var time = 0.0
        var hasBoth: Set<Bool> = []
        for _ in 0..<2000 {
            time +=
                Bool.random(using: &random) ? .random(in: 0...0.3, using: &random) : .random(in: 0...4, using: &random)
            let hasReading = Int.random(in: 0..<3, using: &random) == 0
            engine.receive(
                .of(
                    minor: .random(in: 1...3, using: &random), at: time,
                    rssi: hasReading ? .random(in: -110 ... -1, using: &random) : .random(in: 0...127, using: &random),
                    power: .random(in: .min ... .max, using: &random)))
        }
        for beacon in engine.reports().flatMap(\.beacons) {
            #expect((beacon.proximity == .unknown) == (beacon.accuracy == -1))
            #expect((beacon.proximity == .unknown) == (beacon.rssi == 0))
            #expect(beacon.accuracy == -1 || beacon.accuracy >= 0)
            hasBoth.insert(beacon.proximity == .unknown)
        }
        #expect(hasBoth.count == 2)
    }
}
