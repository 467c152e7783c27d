import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("A receiver in doubt")
struct DoubtTests {
    private let everyone = BeaconConstraint(uuid: .test)

    @Test("In doubt, no region is left and ranging continues; afterwards, due events have their own times")
    func doubt() {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(BeaconConstraint(uuid: .test)))
        _ = engine.startRanging(nil)
        var (reports, exits) = (0, [Double]())
        func take() {
            for event in engine.drainEvents() {
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

    @Test("Adverts in doubt count at their own time, and a doubt that was deafness counts as deafness")
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
        "Unfounded doubts, in any order, cause no changes",
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
        func timestamp() -> Timestamp { Timestamp(nanoseconds: Int64(time) * 1_000_000) }
        for _ in 0..<80 {
            time += Int.random(in: 1...3000, using: &random)
            doubted.advance(upTo: timestamp())
            plain.advance(upTo: timestamp())
            let receiver = receivers[Int.random(in: 0...2, using: &random)]
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                log.append("\(time) receive \(receiver.index)")
                doubted.receive(.of(at: Double(time) / 1000, receiver: receiver.index))
                plain.receive(.of(at: Double(time) / 1000, receiver: receiver.index))
            case 1:
                log.append("\(time) doubt \(receiver.index)")
                doubted.setHearing(false, of: receiver, at: timestamp(), isDoubt: true)
            case 2:
                log.append("\(time) heard \(receiver.index)")
                doubted.setHearing(true, of: receiver, at: timestamp(), wasHearing: true)
            default: break
            }
        }
        for receiver in receivers { doubted.setHearing(true, of: receiver, at: timestamp(), wasHearing: true) }
        time += 30_000
        doubted.advance(to: timestamp())
        plain.advance(to: timestamp())
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
        let expected = Set(words(plain.drainEvents()))
        let surplus = words(doubted.drainEvents()).filter { !expected.contains($0) }
        #expect(surplus == [], "\(log.joined(separator: "; ")): \(expected.sorted())")
        for region in regions.keys { #expect(doubted.state(of: region) == plain.state(of: region)) }
    }
}
