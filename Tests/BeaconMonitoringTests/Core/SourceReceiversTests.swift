import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconSupport
import Testing

@testable import BeaconMonitoring

@Suite("The receivers of a source in a core")
struct SourceReceiversTests {
    private static func sighting(_ place: UInt16) -> Sighting {
        Sighting(
            time: .zero, receiver: ReceiverID(place), address: DeviceAddress(bits: 1, kind: .random),
            identity: SessionBench.frame.identity, measuredPower: -59, rssi: SignalStrength(rawValue: -60))
    }

    @Test("An expected receiver keeps its number when it appears, at any index")
    func keepers() {
        var core = MonitoringCore()
        var listener = SourceReceivers(standIn: ReceiverID(0))
        listener.expect(ReceiverID(7), named: "b", until: Timestamp(nanoseconds: 5))
        #expect(listener.expected == [ReceiverID(7)] && listener.keeper(named: "b") == ReceiverID(7))
        let arrivals = listener.meet(["a", "b"], in: &core) { _, _ in ReceiverID(1) }
        #expect(arrivals.map(\.kind) == [.named, .added])
        #expect(listener.receivers == [ReceiverID(0), ReceiverID(7)] && listener.expected.isEmpty)
        #expect(listener.sighting(Self.sighting(1))?.receiver == ReceiverID(7))
        #expect(listener.sighting(Self.sighting(2)) == nil)
        #expect(listener.takeOverdue(at: Timestamp(nanoseconds: 9)).isEmpty)
    }

    @Test("A receiver that does not appear in time is overdue once, and may still appear")
    func overdue() {
        var core = MonitoringCore()
        var listener = SourceReceivers()
        listener.expect(ReceiverID(7), named: "b", until: Timestamp(nanoseconds: 5))
        listener.expect(ReceiverID(8), named: "c")
        #expect(listener.takeOverdue(at: Timestamp(nanoseconds: 4)).isEmpty)
        #expect(listener.takeOverdue(at: Timestamp(nanoseconds: 5)) == [ReceiverID(7)])
        #expect(listener.takeOverdue(at: Timestamp(nanoseconds: 6)).isEmpty)
        _ = listener.meet(["b"], in: &core) { _, _ in ReceiverID(0) }
        #expect(listener.receivers == [ReceiverID(7)])
    }

    @Test("If only one receiver counts, others have no status, no deafness and no adverts")
    func only() {
        var core = MonitoringCore()
        var listener = SourceReceivers(only: "b")
        _ = listener.meet(["a", "b"], in: &core) { _, place in ReceiverID(UInt16(place)) }
        #expect(listener.counted == [ReceiverID(1)])
        #expect(listener.sighting(Self.sighting(0)) == nil && listener.sighting(Self.sighting(1)) != nil)
        #expect(listener.receivers(at: ReceiverID(0)).isEmpty && listener.receivers(at: nil) == [ReceiverID(1)])
        #expect(listener.statuses([], otherwise: .poweredOn).map(\.receiver) == [ReceiverID(1)])
        #expect(listener.statuses([ReceiverStatus(.poweredOff)]).isEmpty)
    }

    @Test("If the receiver that counts is replaced and reappears elsewhere, it decides about its regions")
    func onlyReplaced() {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond) }
        var core = MonitoringCore()
        var listener = SourceReceivers(only: "b")
        var region = MonitoredRegion(BeaconConstraint(SessionBench.frame.identity))
        region.exitTimeout = .seconds(30)
        let id = core.startMonitoring(region)
        _ = listener.meet(["b"], in: &core) { _, place in ReceiverID(UInt16(place)) }
        var sighting = Self.sighting(0)
        sighting.time = time(100)
        core.receive(sighting)
        core.advance(to: time(101))
        #expect(core.publishedState(of: id) == .inside)
        // Longer than the exit time-out, with no receiver hearing.
        _ = listener.meet(["x"], in: &core) { _, place in ReceiverID(UInt16(place)) }
        core.advance(to: time(200))
        #expect(listener.counted.isEmpty && core.knownState(of: id) == .inside)
        _ = listener.meet(["x", "b"], in: &core) { _, place in ReceiverID(UInt16(place)) }
        core.setHearing(.interrupted, of: ReceiverID(1))
        core.setHearing(.hearing, of: ReceiverID(1))
        core.advance(to: time(229))
        #expect(core.knownState(of: id) == .inside)
        core.advance(to: time(231))
        #expect(core.publishedState(of: id) == .outside)
    }

    @Test("Each name has one number, and an abandoned number is never reused, whatever a source names")
    func randomNames() {
        let seed: UInt64 = 20_261_126
        var random = SplitMix64(seed: seed)
        var core = MonitoringCore()
        var listener = SourceReceivers()
        var next: UInt16 = 0
        for name in 0..<4 {
            listener.expect(ReceiverID(next), named: "r\(name)")
            next += 1
        }
        var names: [String] = []
        for step in 0..<500 {
            // A name never appears twice in a table, and a table only grows.
            let free = (0..<12).map { "r\($0)" }.filter { !names.contains($0) }
            let name = free[Int.random(in: free.indices, using: &random)]
            if names.count < 8, Bool.random(using: &random) || names.isEmpty {
                names.append(name)
            } else {
                names[Int.random(in: names.indices, using: &random)] = name
            }
            let waited = listener.expected.count
            let arrivals = listener.meet(names, in: &core) { _, _ in
                defer { next += 1 }
                return ReceiverID(next)
            }
            #expect(arrivals.count == 1, "seed \(seed), step \(step)")
            #expect(Set(listener.receivers).count == names.count, "seed \(seed), step \(step)")
            #expect(listener.expected.count <= waited && listener.names == names, "seed \(seed), step \(step)")
            #expect(Set(listener.expected).isDisjoint(with: listener.receivers), "seed \(seed), step \(step)")
        }
    }

    @Test("Receivers of a reopened source keep their numbers, in any order and number")
    func restarts() {
        let seed: UInt64 = 20_261_127
        var random = SplitMix64(seed: seed)
        var core = MonitoringCore()
        var listener = SourceReceivers(standIn: ReceiverID(0))
        var next: UInt16 = 1
        var numbers: [String: ReceiverID] = [:]
        for step in 0..<300 {
            // Each opening names its receivers one after another.
            let order = (0..<6).map { "r\($0)" }.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random))
            listener.restart()
            for count in 1...order.count {
                let names = Array(order.prefix(count))
                _ = listener.meet(names, in: &core) { _, _ in
                    defer { next += 1 }
                    return ReceiverID(next)
                }
                #expect(listener.names == names && listener.receivers.count == count, "seed \(seed), step \(step)")
                for (name, receiver) in zip(names, listener.receivers) {
                    #expect(numbers[name] ?? receiver == receiver, "seed \(seed), step \(step): \(name)")
                    numbers[name] = receiver
                }
                let here = Set(listener.receivers)
                #expect(here.count == count && here.isDisjoint(with: listener.expected), "seed \(seed), step \(step)")
            }
        }
        #expect(numbers.count == 6 && Set(numbers.values).count == 6 && next <= 7)
    }

    @Test("An index that a source does not name for a while keeps its receiver until another one takes it")
    func shorter() {
        var core = MonitoringCore()
        var listener = SourceReceivers()
        func meet(_ names: [String]) -> [SourceReceivers.Arrival.Kind] {
            listener.meet(names, in: &core) { _, place in ReceiverID(UInt16(place)) }.map(\.kind)
        }
        #expect(meet(["a", "b"]) == [.added, .added])
        #expect(meet(["a"]).isEmpty && listener.receivers.count == 2)
        #expect(meet(["a", "b"]).isEmpty)
        #expect(meet(["b"]) == [.replaced(ReceiverID(0))])
        #expect(meet(["b", "a"]) == [.replaced(ReceiverID(1))])
        #expect(listener.receivers == [ReceiverID(0), ReceiverID(1)])
    }

    @Test("Several receivers that count as one hear while all of them do")
    func common() {
        #expect(SourceReceivers.common([]).hearing == .hearing)
        #expect(SourceReceivers.common([ReceiverStatus(.poweredOn), ReceiverStatus(.poweredOn)]).hearing == .hearing)
        #expect(
            SourceReceivers.common([ReceiverStatus(.poweredOn), ReceiverStatus(.poweredOn, isDoubtful: true)])
                .hearing == .doubtful)
        for state in RadioState.allCases where state != .poweredOn {
            #expect(
                SourceReceivers.common([ReceiverStatus(.poweredOn, isDoubtful: true), ReceiverStatus(state)])
                    .hearing == .interrupted)
        }
    }

    @Test("A region whose receiver lost adverts has its full time-out again", arguments: [true, false])
    func renewal(isConcerned: Bool) {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond) }
        var core = MonitoringCore()
        core.name(ReceiverID(0), "a")
        var region = MonitoredRegion(BeaconConstraint(SessionBench.frame.identity))
        region.exitTimeout = .seconds(30)
        _ = core.startMonitoring(region)
        var sighting = Self.sighting(0)
        sighting.time = time(100)
        core.receive(sighting)
        core.advance(to: time(120))
        core.renew { _ in isConcerned }
        var exits: [Double] = []
        for second in Int64(121)...160 {
            core.advance(to: time(second))
            for case .state(let change) in core.drainEvents() where change.kind == .exit {
                exits.append(change.time.seconds)
            }
        }
        #expect(exits == [isConcerned ? 150 : 130])
    }

    @Test("A source that cannot send refuses each frame")
    func noAdvertiser() throws {
        var refused: [OutgoingAdvert] = []
        var source = ScriptedMachine().makeSource { event in
            guard case .advertising(let frame, .failure(.receiversCannotSend)) = event else { return }
            refused.append(frame)
        }
        source.advertise([OutgoingAdvert(SessionBench.frame)])
        #expect(refused == [OutgoingAdvert(SessionBench.frame)])
        _ = try source.next()
        #expect(refused.count == 1)
    }
}
