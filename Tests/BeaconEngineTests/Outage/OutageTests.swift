import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Not hearing is not absence")
struct OutageTests {
    private let everyone = BeaconConstraint(uuid: .test)
    private let first = ReceiverID(0)
    private let second = ReceiverID(1)

    @Test("A region is not left while the receiver is deaf that kept it, and has the rest of its time afterwards")
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

    @Test("Another receiver that hears does not let a region be left, but takes it over when it hears the beacon")
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

    @Test("An unknown state is not outside before a receiver has listened for long enough")
    func unknown() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(10)))
        engine.setHearing(false, of: first, at: .zero)
        engine.advance(to: .at(3))
        engine.advance(to: .at(100))
        #expect(engine.regionEvents().isEmpty)
        // A receiver that comes new hears.
        engine.addReceiver(second)
        engine.advance(to: .at(104))
        engine.setHearing(false, of: second, at: .at(104))
        engine.setHearing(true, of: first, at: .at(200))
        engine.advance(to: .at(300))
        #expect(engine.regionEvents() == ["outside 206.0"])
    }

    @Test("Before the first receiver has come nobody hears: nothing is left, and nothing counts as outside")
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

    @Test("A suspend that is learnt afterwards is no absence, for regions, for ranging and for intervals")
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
        for event in engine.takeEvents() {
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

    @Test("A deaf receiver makes no reports, the others do")
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

    @Test("A far time is reached though a deaf receiver's beacons are listed", arguments: [false, true])
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

    @Test("A sighting by a receiver that is deaf by now was on its way: it counts as of when the receiver became deaf")
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

    @Test("Deafness is not learnt as an interval, and an adaptive time-out does not grow by it")
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

    @Test("Deafness before the first time begins with it")
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

    @Test("An exit names a receiver where one has heard the region since it was restored")
    func restoredExit() {
        func receiver(isHeard: Bool) -> ReceiverID? {
            var engine = Engine()
            _ = engine.startMonitoring(MonitoredRegion(everyone), assuming: .inside)
            engine.addReceiver(first)
            engine.advance(to: .zero)
            if isHeard { engine.receive(.of(at: 1, receiver: 1)) }
            engine.advance(to: .at(100))
            for case .exited(let change) in engine.takeEvents() { return change.receiver }
            return ReceiverID(99)
        }
        #expect(receiver(isHeard: false) == nil)
        #expect(receiver(isHeard: true) == second)
    }

    @Test("Calls that say nothing new, contradict each other or go back in time are harmless")
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
        // Deaf from 100 to 110, since a time that lies before the newest counts as that.
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

    /// When and how receivers are deaf in the matrix below.
    enum Outage: CaseIterable {
        case none, set, skipped, late, twice
    }

    @Test("Each state, kind of region, receiver and outage is as the model has it", arguments: Outage.allCases)
    func matrix(outage: Outage) {
        for deaf in [[], [0], [1], [0, 1], [0, 1, 2]] as [[UInt16]] {
            for heard in [nil, 0, 1, 2] as [UInt16?] {
                for begin in 0...8 {
                    for length in [1, 3, 20] {
                        var both = ModelledEngine(receivers: 3)
                        if let heard {
                            both.advance(upTo: 2)
                            both.receive(heard)
                        }
                        both.advance(upTo: begin)
                        play(outage, deaf, begin, length, &both)
                        for time in stride(from: begin + length, to: begin + length + 12, by: 3) {
                            both.advance(upTo: time)
                            both.settle()
                        }
                        let (engine, model) = both.changes()
                        let sequence = "\(deaf) \(heard ?? 9) \(begin) \(length)"
                        #expect(engine.sorted() == model.sorted(), "\(sequence)")
                        let hearing = both.hearing()
                        #expect(hearing.engine == hearing.model)
                    }
                }
            }
        }
    }

    private func play(
        _ outage: Outage, _ deaf: [UInt16], _ begin: Int, _ length: Int, _ both: inout ModelledEngine
    ) {
        let end = begin + length
        switch outage {
        case .none: break
        case .set:
            for receiver in deaf { both.setHearing(false, of: receiver) }
            both.settle()
            let hearing = both.hearing()
            #expect(hearing.engine == hearing.model)
            both.advance(upTo: end)
            for receiver in deaf { both.setHearing(true, of: receiver) }
        case .skipped:
            for receiver in deaf { both.skip(from: begin, to: end, of: receiver) }
        case .late:
            // Learnt one second after it began, at the soonest time at which that can matter.
            both.advance(upTo: begin + 1)
            for receiver in deaf { both.skip(from: begin, to: end, of: receiver) }
        case .twice:
            for receiver in deaf { both.setHearing(false, of: receiver) }
            both.advance(upTo: end)
            for receiver in deaf { both.skip(from: begin, to: end, of: receiver) }
            for receiver in deaf { both.setHearing(true, of: receiver) }
            for receiver in deaf { both.skip(from: begin, to: end, of: receiver) }
        }
    }

    @Test("Random sequences of sightings, outages and time: as the model has them", arguments: 1...300)
    func random(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var both = ModelledEngine(receivers: 3)
        var log: [String] = []
        for _ in 0..<60 {
            let time = both.model.now + Int.random(in: 0...4, using: &random)
            both.advance(upTo: time)
            let receiver = UInt16.random(in: 0...2, using: &random)
            switch Int.random(in: 0...5, using: &random) {
            case 0:
                log.append("\(time) receive \(receiver)")
                both.receive(receiver)
            case 1, 2:
                log.append("\(time) deaf \(receiver)")
                both.setHearing(false, of: receiver)
            case 3:
                log.append("\(time) hears \(receiver)")
                both.setHearing(true, of: receiver)
            case 4:
                let end = time + Int.random(in: 1...9, using: &random)
                let skipped = (0...2 as ClosedRange<UInt16>).filter { _ in Bool.random(using: &random) }
                log.append("\(time) skip \(skipped) \(end)")
                for receiver in skipped { both.skip(from: time, to: end, of: receiver) }
                both.advance(upTo: end)
            default: both.settle()
            }
        }
        for receiver in 0..<3 as Range<UInt16> { both.setHearing(true, of: receiver) }
        both.advance(upTo: both.model.now + 30)
        let changes = both.changes()
        // Of one second, the order is that of the deadlines and of the regions.
        #expect(changes.engine.sorted() == changes.model.sorted(), "\(log.joined(separator: "; "))")
        let (engine, model) = both.states()
        #expect(engine == model)
    }

    @Test("Outages that are learnt late, in any order and overlapping, make no exit too early", arguments: 1...200)
    func lateStretches(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(everyone, exitTimeout: .seconds(20)))
        engine.receive(.of(at: 100))
        engine.advance(to: .at(119))
        var deaf: Set<Int> = []
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let from = Int.random(in: 90...118, using: &random)
            let to = from + Int.random(in: 1...30, using: &random)
            engine.skip(from: .at(Double(from)), to: .at(Double(to)), of: first)
            deaf.formUnion(max(from, 100)..<max(to, 100))
        }
        let heard = (100..<1000).filter { !deaf.contains($0) }
        engine.advance(to: .at(Double(heard[20]) - 0.5))
        #expect(engine.state(of: region) == .inside)
        engine.advance(to: .at(Double(heard[20])))
        #expect(engine.state(of: region) == .outside)
    }

    @Test("Ranging goes on from where it was: it reports as if the time of deafness had not been", arguments: 1...60)
    func rangingAges(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var deafened = Engine()
        var plain = Engine()
        _ = deafened.startRanging(nil)
        _ = plain.startRanging(nil)
        deafened.addReceiver(first)
        plain.addReceiver(first)
        // Milliseconds, so that no moment is rounded, and none is that of a report.
        var time = 0
        var lost = 0
        var expected: [RangingReport] = []
        var found: [RangingReport] = []
        func moment(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }
        for _ in 0..<200 {
            time += Int.random(in: 1...3000, using: &random)
            if time % 1000 == 0 { time += 1 }
            deafened.advance(upTo: moment(time + lost))
            plain.advance(upTo: moment(time))
            let offset = -Int64(lost) * 1_000_000
            expected += plain.reports()
            found += deafened.reports().map { report in
                var report = report
                report.time = report.time.advanced(by: offset)
                for place in report.beacons.indices {
                    report.beacons[place].lastHeard = report.beacons[place].lastHeard.advanced(by: offset)
                }
                return report
            }
            guard Int.random(in: 0..<20, using: &random) == 0 else {
                let minor = UInt16.random(in: 1...5, using: &random)
                let rssi = Int8.random(in: -90...(-40), using: &random)
                var sighting = Sighting.of(minor: minor, at: 0, rssi: rssi, address: UInt64(minor))
                sighting.time = moment(time)
                plain.receive(sighting)
                sighting.time = moment(time + lost)
                deafened.receive(sighting)
                continue
            }
            let end = time + Int.random(in: 1...400, using: &random) * 1000
            if Bool.random(using: &random) {
                deafened.setHearing(false, of: first, at: moment(time + lost))
                deafened.setHearing(true, of: first, at: moment(end + lost))
            } else {
                deafened.skip(from: moment(time + lost), to: moment(end + lost), of: first)
            }
            lost += end - time
        }
        let difference = zip(found, expected).first { $0 != $1 }
        #expect(found.count == expected.count && difference == nil)
        #expect(found.count > 50)
    }

    // MARK: - Doubt

    @Test("In a doubt nothing is left and ranging goes on; what was due happens with its own time once it is over")
    func doubt() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: .test)))
        _ = engine.startRanging(nil)
        var (reports, exits) = (0, [Double]())
        func take() {
            for event in engine.takeEvents() {
                switch event {
                case .ranged: reports += 1
                case .exited(let change): exits.append(change.time.seconds)
                default: break
                }
            }
        }
        let receiver = ReceiverID(0)
        for second in 0..<10 {
            engine.receive(.of(at: Double(second) + 0.1))
            engine.setHearing(true, of: receiver, at: .at(Double(second) + 0.2), wasHearing: true)
            engine.setHearing(false, of: receiver, at: .at(Double(second) + 0.7), isDoubt: true)
            engine.advance(to: .at(Double(second) + 1))
            take()
        }
        #expect(reports == 10)
        engine.advance(to: .at(300))
        take()
        #expect(exits == [] && engine.state(of: region) == .inside)
        engine.setHearing(true, of: receiver, at: .at(300), wasHearing: true)
        engine.advance(to: .at(301))
        take()
        #expect(exits == [39.1])
    }

    @Test("What is heard in a doubt counts as heard then, and a doubt that was deafness is counted as such")
    func doubtful() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: .test)))
        let receiver = ReceiverID(0)
        engine.receive(.of(at: 0))
        engine.setHearing(false, of: receiver, at: .at(1), isDoubt: true)
        engine.receive(.of(at: 50))
        engine.setHearing(true, of: receiver, at: .at(51), wasHearing: true)
        engine.advance(to: .at(79))
        #expect(engine.state(of: region) == .inside)
        engine.setHearing(false, of: receiver, at: .at(79), isDoubt: true)
        engine.setHearing(false, of: receiver, at: .at(90))
        engine.setHearing(true, of: receiver, at: .at(1000))
        engine.advance(to: .at(1000.9))
        #expect(engine.state(of: region) == .inside)
        engine.advance(to: .at(1002))
        #expect(engine.state(of: region) == .outside)
    }

    @Test(
        "Doubts that turn out to be none, in any order, make no change that would not be without them",
        arguments: 1...300)
    func randomDoubts(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var doubted = Engine()
        var plain = Engine()
        let receivers = (0..<3).map { ReceiverID(UInt16($0)) }
        for receiver in receivers {
            doubted.addReceiver(receiver)
            plain.addReceiver(receiver)
        }
        var regions: [RegionID: Int] = [:]
        for (number, only) in [nil, receivers[0], receivers[1]].enumerated() {
            let region = MonitoredRegion(everyone, receiver: only, exitTimeout: .seconds(5))
            regions[doubted.startMonitoring(region)] = number
            _ = plain.startMonitoring(region)
        }
        var time = 0
        var log: [String] = []
        func moment() -> Timestamp { Timestamp(nanoseconds: Int64(time) * 1_000_000) }
        for _ in 0..<80 {
            time += Int.random(in: 1...3000, using: &random)
            doubted.advance(upTo: moment())
            plain.advance(upTo: moment())
            let receiver = receivers[Int.random(in: 0...2, using: &random)]
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                log.append("\(time) receive \(receiver.index)")
                doubted.receive(.of(at: Double(time) / 1000, receiver: receiver.index))
                plain.receive(.of(at: Double(time) / 1000, receiver: receiver.index))
            case 1:
                log.append("\(time) doubt \(receiver.index)")
                doubted.setHearing(false, of: receiver, at: moment(), isDoubt: true)
            case 2:
                log.append("\(time) heard \(receiver.index)")
                doubted.setHearing(true, of: receiver, at: moment(), wasHearing: true)
            default: break
            }
        }
        for receiver in receivers { doubted.setHearing(true, of: receiver, at: moment(), wasHearing: true) }
        time += 30_000
        doubted.advance(to: moment())
        plain.advance(to: moment())
        func words(_ events: [EngineEvent]) -> [String] {
            events.compactMap { event in
                switch event {
                case .entered(let change): "\(regions[change.region] ?? -1) enter \(change.time.nanoseconds)"
                case .exited(let change): "\(regions[change.region] ?? -1) exit \(change.time.nanoseconds)"
                case .determined(let change): "\(regions[change.region] ?? -1) outside \(change.time.nanoseconds)"
                case .ranged, .placed, .located, .uncalibrated: nil
                }
            }
        }
        let expected = Set(words(plain.takeEvents()))
        let surplus = words(doubted.takeEvents()).filter { !expected.contains($0) }
        #expect(surplus == [], "\(log.joined(separator: "; ")): \(expected.sorted())")
        for region in regions.keys { #expect(doubted.state(of: region) == plain.state(of: region)) }
    }
}
