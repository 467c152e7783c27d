import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Learned intervals")
struct IntervalTests {
    private let everyone = BeaconConstraint(uuid: .test)

    /// Returns the proximity in the report of each second, or "-" if the beacon is not listed, for adverts at these
    /// times.
    private func words(_ times: [Double], until end: Int, rssi: Int8 = -45) -> [String] {
        var engine = Engine()
        _ = engine.startRanging(everyone)
        for time in times { engine.receive(.of(at: time, rssi: rssi)) }
        for second in Int(times.last ?? 0)...end { engine.advance(to: .at(Double(second))) }
        var words = Array(repeating: "-", count: end + 1)
        for report in engine.reports() {
            if let beacon = report.beacons.first { words[Int(report.time.seconds)] = "\(beacon.proximity)" }
        }
        return words
    }

    @Test("Two adverts four minutes apart are not an interval: the beacon is unknown after 2 s and gone after 10 s")
    func oneAbsence() {
        let words = words([0.5, 240.5], until: 400)
        #expect(words[241..<243].allSatisfy { $0 == "immediate" })
        #expect(words[243..<251].allSatisfy { $0 == "unknown" })
        #expect(words[251...].allSatisfy { $0 == "-" })
    }

    @Test("A beacon that returns after minutes is gone as quickly as the first time")
    func awayAndBack() {
        let times = (0...10).map(Double.init) + (250...255).map(Double.init)
        let words = words(times.map { $0 + 0.5 }, until: 400)
        // Last heard at 255.5: known up to the report at 258 with an interval of a second, listed up to the report at
        // 265.
        #expect(words[255...256].allSatisfy { $0 == "immediate" })
        #expect(words[259...264].allSatisfy { $0 == "unknown" })
        #expect(words[266...].allSatisfy { $0 == "-" })
    }

    @Test("Repeated absences count as the longest legal interval: the beacon is known for 3 and listed for 5")
    func repeatedAbsences() {
        let words = words([0.5, 240.5, 480.5], until: 700)
        #expect(words[481...511].allSatisfy { $0 == "immediate" })
        #expect(words[512...531].allSatisfy { $0 == "unknown" })
        #expect(words[532...].allSatisfy { $0 == "-" })
    }

    @Test("A beacon with the longest legal interval, delayed as the specification permits, is always known")
    func slowestLegalBeacon() {
        let times = (0..<40).map { Double($0) * 10.245 + 0.5 }
        let words = words(times, until: 400)
        #expect(words[22...399].allSatisfy { $0 == "immediate" })
    }

    @Test("A beacon heard every 40 s is always listed once that has repeated, and known for 30 s of each gap")
    func sporadicBeacon() {
        let words = words((0..<10).map { Double($0) * 40 + 0.5 }, until: 361)
        #expect(words[82...360].allSatisfy { $0 != "-" })
        for advert in 2..<9 {
            let second = advert * 40
            #expect(words[second + 1...second + 31].allSatisfy { $0 == "immediate" })
            #expect(words[second + 32...second + 40].allSatisfy { $0 == "unknown" })
        }
    }

    @Test("An absence does not extend an adaptive time-out", arguments: [30, 240, 290])
    func adaptiveExitAfterAbsence(absence: Double) {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone, isExitAdaptive: true))
        engine.hear(from: 0, to: 10, every: 1) { .of(at: $0) }
        engine.hear(from: 10 + absence, to: 20 + absence, every: 1) { .of(at: $0) }
        _ = engine.regionEvents()
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents() == ["exit \(50 + absence)"])
    }

    @Test("One long gap is not regular, but two in a row are", arguments: [false, true])
    func regularGap(isRepeated: Bool) {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(5), isExitAdaptive: true))
        engine.hear(from: 0, to: 3, every: 1) { .of(at: $0) }
        engine.receive(.of(at: 7))
        engine.receive(.of(at: isRepeated ? 11 : 8))
        engine.advance(to: .at(100))
        #expect(engine.regionEvents() == ["enter 0.0", isRepeated ? "exit 23.0" : "exit 13.0"])
    }

    @Test("Random gaps never extend 2 s beyond 30.72 s, 10 s beyond 51.2 s, or an adaptive exit")
    func bounds() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            var engine = Engine()
            _ = engine.startRanging(everyone)
            _ = engine.startMonitoring(MonitoredRegion(everyone, isExitAdaptive: true))
            var time = 0.0
            for _ in 0..<60 {
                time += [0.1, 1, 9, 12, 45, 200].randomElement(using: &random) ?? 1
                engine.receive(.of(at: time))
            }
            _ = engine.drainEvents()
            for second in 1...80 { engine.advance(to: .at(time + Double(second))) }
            for event in engine.drainEvents() {
                switch event {
                case .ranged(let report):
                    guard let beacon = report.beacons.first else { continue }
                    let silence = report.time.seconds - time
                    #expect(silence < 51.2)
                    if silence >= 30.72 { #expect(beacon.proximity == .unknown) }
                case .exited(let change): #expect(change.time.seconds - time <= 30.721)
                default: Issue.record("unexpected \(event)")
                }
            }
        }
    }
}
