import BeaconEngine
import BeaconModel
import Testing

@Suite("Places by the strongest receiver")
struct PlaceTests {
    @Test(
        "A beacon is at once in the place where it is strongest, and leaves it after a minute unheard")
    func enterAndLeave() {
        var bench = PlaceBench()
        bench.pass(10, [-60, -75, -85])
        #expect(bench.changes() == ["1.0 0"])
        bench.pass(70, [nil, nil, nil])
        #expect(bench.changes() == ["70.0 nowhere"])
    }

    /// Returns the seconds after which a beacon moves if the other place leads by `lead` decibels; nil for never.
    private func secondsToChange(
        lead: Int8, receivers: [Int?] = [0, 1], silent: Set<Int> = [], _ change: (inout PlaceRules) -> Void = { _ in }
    ) -> Double? {
        var map = PlaceMap(placeCount: 2, receivers: receivers)
        // Without smoothing, so that only the rule counts.
        map.rules.memory = 0
        change(&map.rules)
        var bench = PlaceBench(map, attaching: receivers.count)
        func levels(_ first: Int8, _ second: Int8) -> [Int8?] {
            receivers.enumerated().map { silent.contains($0) ? nil : $1 == 0 ? first : second }
        }
        bench.pass(20, levels(-60, -80))
        _ = bench.changes()
        bench.pass(200, levels(-70, -70 + lead))
        return bench.changes().first.flatMap { Double($0.prefix { $0 != " " }) }.map { $0 - 20 }
    }

    @Test(
        "A lead by the margin takes the hold time, a greater lead less, and a third of it has no effect",
        arguments: [(Int8(0), nil as Double?), (2, nil), (3, 48), (4, 24), (6, 12), (10, 6), (18, 3), (50, 1)])
    func lead(lead: Int8, seconds: Double?) {
        #expect(secondsToChange(lead: lead) == seconds)
    }

    @Test("If many receivers agree, a move takes less time, up to sixteen pairs")
    func witnesses() {
        #expect(secondsToChange(lead: 6, receivers: [0, 1, 1]) == 6)
        #expect(secondsToChange(lead: 6, receivers: [0, 0, 1, 1]) == 3)
        #expect(secondsToChange(lead: 3, receivers: [0, 0, 0, 0, 1, 1, 1, 1]) == 3)
        #expect(secondsToChange(lead: 3, receivers: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]) == 3)
        // A deaf receiver does not count.
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 0, 1]), attaching: 2)
        bench.engine.setReceiver(ReceiverID(2), of: 2)
        bench.set(1, isHearing: false)
        bench.pass(40, [-60, nil, -80])
        _ = bench.changes()
        bench.pass(20, [-66, nil, -60])
        #expect(bench.changes() == ["55.0 1"])
    }

    @Test("A receiver that does not hear the beacon does not count")
    func silentWitness() {
        #expect(secondsToChange(lead: 6, receivers: [0, 0, 0, 1, 1, 1], silent: [1, 2, 4, 5]) == 12)
    }

    @Test("The last leading place wins, and only if it leads by more than the slack")
    func threePlaces() {
        var map = PlaceMap(placeCount: 3, receivers: [0, 1, 2])
        map.rules.memory = 0
        var bench = PlaceBench(map)
        bench.pass(20, [-60, -90, -90])
        _ = bench.changes()
        bench.pass(11, [-70, -64, -90])
        bench.pass(5, [-70, -90, -69])
        #expect(bench.changes() == [])
        bench.pass(3, [-70, -90, -60])
        #expect(bench.changes() == ["38.0 2"])
    }

    @Test("An advert every ten seconds counts for three seconds, and a single one decides nothing")
    func rareAdverts() {
        var map = PlaceMap(placeCount: 2, receivers: [0, 1])
        map.rules.memory = 0
        var bench = PlaceBench(map, attaching: 2)
        func hear(_ bench: inout PlaceBench, _ levels: [Int8]) {
            for (receiver, level) in levels.enumerated() {
                bench.engine.receive(.of(at: bench.time + 0.5, rssi: level, receiver: UInt16(receiver)))
            }
            bench.pass(10, [nil, nil])
        }
        for _ in 0..<10 { hear(&bench, [-60, -80]) }
        _ = bench.changes()
        hear(&bench, [-70, -62])
        hear(&bench, [-70, -62])
        #expect(bench.changes() == [])
        hear(&bench, [-70, -62])
        #expect(bench.changes() == ["121.0 1"])
    }

    @Test("While no receiver hears, earlier levels are no further evidence")
    func interrupted() {
        var map = PlaceMap(placeCount: 2, receivers: [0, 1])
        map.rules.memory = 0
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(20, [-60, -80])
        bench.pass(6, [-70, -64])
        _ = bench.changes()
        for receiver in 0..<2 as Range<UInt16> { bench.set(receiver, isHearing: false) }
        bench.pass(4, [nil, nil])
        for receiver in 0..<2 as Range<UInt16> { bench.set(receiver, isHearing: true) }
        bench.pass(20, [-70, -64])
        #expect(bench.changes() == ["36.0 1"])
    }

    @Test("The margin and the hold time set the necessary lead")
    func rules() {
        #expect(secondsToChange(lead: 12) { $0.margin = 12 } == 12)
        #expect(secondsToChange(lead: 6) { $0.margin = 12 } == 48)
        #expect(secondsToChange(lead: 6) { $0.holdTime = .seconds(30) } == 30)
        #expect(secondsToChange(lead: 1) { ($0.margin, $0.holdTime) = (0, .zero) } == 1)
        #expect(secondsToChange(lead: 0) { ($0.margin, $0.holdTime) = (0, .zero) } == nil)
        #expect(secondsToChange(lead: 1) { ($0.margin, $0.holdTime) = (0, .seconds(30)) } == 30)
        #expect(secondsToChange(lead: 6) { $0.holdTime = .milliseconds(2500) } == 3)
    }

    @Test("Random leads in both directions for an hour change nothing")
    func chance() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        var state: UInt64 = 1
        bench.pass(10, [-60, -66])
        _ = bench.changes()
        for _ in 0..<3600 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let off = Int8(Int((state >> 33) % 9) - 4)
            bench.pass(1, [-63 + off, -63 - off])
        }
        #expect(bench.changes() == [])
    }

    @Test("A lead without new readings does not grow")
    func staleLead() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        bench.pass(20, [-60, -70])
        bench.pass(5, [-64, -60])
        bench.pass(50, [nil, nil])
        #expect(bench.changes() == ["1.0 0"])
    }

    @Test("An unheard level falls, so that a beacon that was carried away is found in a quieter place")
    func sinking() {
        var bench = PlaceBench()
        bench.pass(20, [-55, nil, nil])
        _ = bench.changes()
        bench.pass(60, [nil, -70, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 1"])
    }

    @Test("A receiver's offset counts")
    func offset() {
        var bench = PlaceBench()
        bench.engine.setCalibration(ReceiverCalibration(offset: 10), of: ReceiverID(0))
        bench.pass(10, [-60, -65, nil])
        #expect(bench.changes() == ["1.0 1"])
    }

    @Test("The grounds include the receiver, the level, the lead and the next place")
    func grounds() throws {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 0, 1]))
        bench.pass(5, [-80, -60, -70])
        let change = try #require(
            bench.engine.drainEvents().lazy.compactMap { event -> PlaceChange? in
                if case .placed(let change) = event { change } else { nil }
            }.first)
        #expect(change.grounds.receiver == ReceiverID(1))
        #expect(change.grounds.level == -60)
        #expect(change.grounds.margin == 10)
        #expect(change.grounds.runnerUp == 1)
        #expect(change.before == .unknown)
    }
}
