import BeaconEngine
import BeaconModel
import Testing

@Suite("Not hearing is not absence")
struct OutageTests {
    private let everyone = BeaconConstraint(uuid: .test)
    private let first = ReceiverID(0)
    private let second = ReceiverID(1)

    @Test("A region is not left while the receiver that last heard it is deaf, and has the rest of its time afterwards")
    func held() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(everyone))
        engine.receive(.of(at: 0))
        engine.setHearing(false, of: first, at: .at(10))
        #expect(engine.isHearing(region) == false)
        engine.advance(to: .at(5000))
        #expect(engine.state(of: region) == .inside)
        #expect(engine.regionEvents() == ["enter 0.0"])
        engine.setHearing(true, of: first, at: .at(5010))
        #expect(engine.isHearing(region) == true)
        engine.advance(to: .at(6000))
        #expect(engine.regionEvents() == ["exit 5030.0"])
    }

    @Test("Another hearing receiver does not cause an exit, but takes over the region when it hears the beacon")
    func takenOver() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(everyone))
        engine.addReceiver(second)
        engine.receive(.of(at: 0, receiver: 0))
        engine.setHearing(false, of: first, at: .at(10))
        engine.advance(to: .at(100))
        #expect(engine.regionEvents() == ["enter 0.0"])
        engine.receive(.of(at: 101, receiver: 1))
        #expect(engine.isHearing(region) == true)
        engine.advance(to: .at(200))
        #expect(engine.regionEvents() == ["exit 131.0"])
        engine.setHearing(true, of: first, at: .at(300))
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents().isEmpty)
    }

    @Test("An unknown state becomes outside only after a receiver has listened for long enough")
    func unknown() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(10)))
        engine.setHearing(false, of: first, at: .zero)
        engine.advance(to: .at(3))
        engine.advance(to: .at(100))
        #expect(engine.regionEvents().isEmpty)
        // A new receiver hears.
        engine.addReceiver(second)
        engine.advance(to: .at(104))
        engine.setHearing(false, of: second, at: .at(104))
        engine.setHearing(true, of: first, at: .at(200))
        engine.advance(to: .at(300))
        #expect(engine.regionEvents() == ["outside 206.0"])
    }

    @Test("Before the first receiver, no region is left or becomes outside")
    func noReceiver() {
        var engine = Engine()
        let unknown = engine.startMonitoring(MonitoredRegion(everyone))
        let inside = engine.startMonitoring(MonitoredRegion(everyone), assuming: .inside)
        engine.advance(to: .at(10))
        #expect(!engine.isHearing(unknown) && !engine.isHearing(inside))
        engine.advance(to: .at(1000))
        _ = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(5)))
        engine.advance(to: .at(1010))
        #expect(engine.regionEvents().isEmpty)
        engine.addReceiver(first)
        #expect(engine.isHearing(unknown) && engine.isHearing(inside))
        engine.advance(to: .at(1020))
        engine.setHearing(false, of: first, at: .at(1020))
        engine.setHearing(true, of: first, at: .at(1100))
        engine.advance(to: .at(2000))
        #expect(engine.regionEvents() == ["outside 1015.0", "outside 1120.0", "exit 1120.0"])
    }

    @Test("A suspend that is reported afterwards is not absence, for regions, ranging and intervals")
    func suspend() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        _ = engine.startRanging(everyone)
        engine.hear(from: 0.5, to: 5.5, every: 1) { .of(at: $0) }
        engine.advance(to: .at(6))
        engine.skip(from: .at(6), to: .at(10_006), of: first)
        engine.advance(to: .at(10_007))
        engine.receive(.of(at: 10_007.5))
        engine.advance(to: .at(10_100))
        var words: [String] = []
        for event in engine.drainEvents() {
            switch event {
            case .entered(let change): words.append("enter \(change.time.seconds)")
            case .exited(let change): words.append("exit \(change.time.seconds)")
            case .determined: words.append("outside")
            case .placed, .located, .uncalibrated: break
            case .ranged(let report):
                let state = report.beacons.first.map { "\($0.proximity)" } ?? "-"
                words.append("\(Int(report.time.seconds)) \(state)")
            }
        }
        let before = ["enter 0.5"] + (1...6).map { "\($0) near" }
        let after = (10_006...10_010).map { "\($0) near" } + (10_011...10_017).map { "\($0) unknown" }
        #expect(words.prefix(before.count + after.count) == (before + after)[...])
        #expect(words.contains("exit 10037.5"))
        #expect(words.filter { $0.hasPrefix("e") }.count == 2)
    }

    @Test("A deaf receiver has no reports, but others do")
    func reports() {
        var engine = Engine()
        _ = engine.startRanging(everyone)
        engine.receive(.of(at: 0.5, receiver: 0))
        engine.receive(.of(at: 0.5, receiver: 1))
        engine.setHearing(false, of: first, at: .at(2))
        engine.advance(to: .at(5))
        engine.setHearing(true, of: first, at: .at(5.5))
        engine.skip(from: .at(6), to: .at(8), of: second)
        engine.advance(to: .at(9))
        let reports = engine.reports()
        #expect(reports.filter { $0.receiver == first }.map(\.time.seconds) == [1, 2, 6, 7, 8, 9])
        #expect(reports.filter { $0.receiver == second }.map(\.time.seconds) == [1, 2, 3, 4, 5, 6, 8, 9])
    }

    @Test("A distant time is reached although a deaf receiver's beacons are listed", arguments: [false, true])
    func jump(isSkipped: Bool) {
        var engine = Engine()
        _ = engine.startRanging(everyone)
        engine.addReceiver(second)
        engine.receive(.of(at: 0.5, receiver: 0))
        if isSkipped {
            engine.advance(to: .at(1))
            engine.skip(from: .at(1), to: .at(3_000_000_000), of: first)
        } else {
            engine.setHearing(false, of: first, at: .at(1))
            engine.advance(to: .at(3_000_000_000))
            engine.setHearing(true, of: first, at: .at(3_000_000_000))
        }
        engine.advance(to: .at(3_000_000_005))
        let times = engine.reports().filter { $0.receiver == first && !$0.beacons.isEmpty }.map(\.time.seconds)
        let expected: [Double] =
            isSkipped
            ? [1, 3_000_000_000, 3_000_000_001, 3_000_000_002, 3_000_000_003, 3_000_000_004, 3_000_000_005]
            : [1, 3_000_000_001, 3_000_000_002, 3_000_000_003, 3_000_000_004, 3_000_000_005]
        #expect(times == expected)
    }

    @Test("A late sighting by a deaf receiver counts at the time when the receiver became deaf")
    func straggler() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        engine.receive(.of(at: 0, address: 7))
        engine.advance(to: .at(31))
        engine.setHearing(false, of: first, at: .at(40))
        engine.receive(.of(at: 100))
        engine.setHearing(true, of: first, at: .at(1000))
        engine.advance(to: .at(2000))
        #expect(engine.regionEvents() == ["enter 0.0", "exit 30.0", "enter 100.0", "exit 1030.0"])
    }

    @Test("Deafness is not learned as an interval, and an adaptive time-out does not grow by it")
    func intervals() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(5), isExitAdaptive: true))
        for cycle in 0..<10 {
            let start = Double(cycle) * 20
            engine.hear(from: start, to: start + 5, every: 1) { .of(at: $0) }
            engine.setHearing(false, of: first, at: .at(start + 5))
            engine.setHearing(true, of: first, at: .at(start + 19))
        }
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents() == ["enter 0.0", "exit 204.0"])
    }

    @Test("Deafness before the first time begins at the first time")
    func beforeTime() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone), assuming: .inside)
        _ = engine.startRanging(everyone)
        engine.setHearing(false, of: first, at: .at(5))
        engine.skip(from: .zero, to: .at(5), of: first)
        engine.setHearing(false, of: second, at: .at(6))
        engine.setHearing(true, of: second, at: .at(7))
        engine.setHearing(false, of: second, at: .at(8))
        #expect(engine.hasEvents == false)
        engine.advance(to: .at(1_000_000))
        engine.advance(to: .at(1_000_100))
        #expect(engine.hasEvents == false)
        engine.setHearing(true, of: first, at: .at(1_000_100))
        engine.advance(to: .at(1_000_129.9))
        #expect(engine.regionEvents().isEmpty)
        engine.advance(to: .at(1_000_130))
        #expect(engine.regionEvents() == ["exit 1000130.0"])
    }

    @Test("An exit names a receiver if one has heard the region since it was restored")
    func restoredExit() {
        func receiver(isHeard: Bool) -> ReceiverID? {
            var engine = Engine()
            _ = engine.startMonitoring(MonitoredRegion(everyone), assuming: .inside)
            engine.addReceiver(first)
            engine.advance(to: .zero)
            if isHeard { engine.receive(.of(at: 1, receiver: 1)) }
            engine.advance(to: .at(100))
            for case .exited(let change) in engine.drainEvents() { return change.receiver }
            return ReceiverID(99)
        }
        #expect(receiver(isHeard: false) == nil)
        #expect(receiver(isHeard: true) == second)
    }

    @Test("Redundant, contradictory and backward calls are harmless")
    func oddCalls() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(everyone))
        _ = engine.startRanging(nil)
        engine.setHearing(true, of: ReceiverID(900), at: .at(0))
        engine.receive(.of(at: 100))
        engine.setHearing(true, of: first, at: .at(1))
        engine.setHearing(true, of: ReceiverID(5), at: .at(2))
        engine.setHearing(false, of: first, at: .at(50))
        engine.setHearing(false, of: first, at: .at(110))
        engine.setHearing(true, of: first, at: .at(60))
        engine.setHearing(true, of: first, at: .at(60))
        // Deaf from 100 to 110, because a time before the newest counts as the newest.
        engine.skip(from: .at(105), to: .at(105), of: first)
        engine.skip(from: .at(109), to: .at(101), of: first)
        engine.skip(from: .at(102), to: .at(108), of: first)
        engine.skip(from: .at(100), to: .at(112), of: first)
        engine.skip(from: .at(105), to: .at(112), of: first)
        engine.skip(from: .zero, to: .at(90), of: first)
        engine.stopMonitoring(engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(1))))
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents() == ["enter 100.0", "exit 142.0"])
        engine.skip(from: .zero, to: .latest, of: second)
        engine.setHearing(false, of: first, at: .latest)
        engine.setHearing(true, of: first, at: .latest)
        engine.advance(to: .latest)
        #expect(engine.state(of: region) == .outside)
        engine.stopMonitoring(region)
        #expect(engine.isHearing(region) == true)
    }
}
