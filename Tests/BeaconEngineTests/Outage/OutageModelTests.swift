import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Outages match a model")
struct OutageModelTests {
    private let everyone = BeaconConstraint(uuid: .test)
    private let first = ReceiverID(0)

    /// The outages in the matrix below.
    enum Outage: CaseIterable {
        case none, set, skipped, late, twice
    }

    @Test("Each state, kind of region, receiver and outage matches the model", arguments: Outage.allCases)
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
            // Reported one second after it began, the earliest time at which that can matter.
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

    @Test("Random sequences of sightings, outages and time match the model", arguments: 1...300)
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
        // Within a second, the order is that of the deadlines and of the regions.
        #expect(changes.engine.sorted() == changes.model.sorted(), "\(log.joined(separator: "; "))")
        let (engine, model) = both.states()
        #expect(engine == model)
    }

    @Test("Outages that are reported late, in any order and overlapping, cause no early exit", arguments: 1...200)
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

    @Test("After a deafness, ranging continues as if that time had not passed", arguments: 1...60)
    func rangingAges(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var deafened = Engine()
        var plain = Engine()
        _ = deafened.startRanging(nil)
        _ = plain.startRanging(nil)
        deafened.addReceiver(first)
        plain.addReceiver(first)
        // Milliseconds, so that no time is rounded, and none equals that of a report.
        var time = 0
        var lost = 0
        var expected: [RangingReport] = []
        var found: [RangingReport] = []
        func timestamp(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }
        for _ in 0..<200 {
            time += Int.random(in: 1...3000, using: &random)
            if time % 1000 == 0 { time += 1 }
            deafened.advance(upTo: timestamp(time + lost))
            plain.advance(upTo: timestamp(time))
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
                sighting.time = timestamp(time)
                plain.receive(sighting)
                sighting.time = timestamp(time + lost)
                deafened.receive(sighting)
                continue
            }
            let end = time + Int.random(in: 1...400, using: &random) * 1000
            if Bool.random(using: &random) {
                deafened.setHearing(false, of: first, at: timestamp(time + lost))
                deafened.setHearing(true, of: first, at: timestamp(end + lost))
            } else {
                deafened.skip(from: timestamp(time + lost), to: timestamp(end + lost), of: first)
            }
            lost += end - time
        }
        let difference = zip(found, expected).first { $0 != $1 }
        #expect(found.count == expected.count && difference == nil)
        #expect(found.count > 50)
    }
}
