import BeaconEngine
import BeaconModel
import Testing

@Suite("Places by the strongest receiver")
struct PlaceTests {
    @Test(
        "A beacon is at once in the place where it is clearly strongest, and leaves it after a minute unheard")
    func enterAndLeave() {
        var bench = PlaceBench()
        bench.pass(10, [-60, -75, -85])
        #expect(bench.changes() == ["1.0 0"])
        bench.pass(70, [nil, nil, nil])
        #expect(bench.changes() == ["70.0 nowhere"])
    }

    /// Returns the seconds after which a beacon moves if the other place leads by `lead` decibels; nil for never.
    ///
    /// - Parameters:
    ///   - lead: the lead of the other place, from a moment on.
    ///   - before: its lead for a minute before that, negative.
    ///   - noise: the difference of each level from second to second, in decibels.
    private func secondsToChange(
        lead: Int8, before: Int8 = -1, noise: Int8 = 4, receivers: [Int?] = [0, 1], silent: Set<Int> = [],
        _ change: (inout PlaceRules) -> Void = { _ in }
    ) -> Double? {
        var map = PlaceMap(placeCount: 2, receivers: receivers)
        // Without smoothing, so that only the rule counts.
        map.rules.memory = 0
        change(&map.rules)
        var bench = PlaceBench(map, attaching: receivers.count)
        func pass(_ seconds: Int, _ lead: Int8) {
            for second in 0..<seconds {
                // All receivers swing together, so that the lead is constant.
                let swing = second % 2 == 0 ? noise / 2 : -noise / 2
                bench.pass(
                    1,
                    receivers.enumerated().map { silent.contains($0) ? nil : ($1 == 0 ? -70 : -70 + lead) + swing })
            }
        }
        pass(60, before)
        _ = bench.changes()
        pass(300, lead)
        return bench.changes().first.flatMap { Double($0.prefix { $0 != " " }) }.map { $0 - 60 }
    }

    @Test("A lead by the margin takes about the hold time, a greater lead less, and a third of it has no effect")
    func lead() throws {
        #expect(secondsToChange(lead: 0) == nil)
        #expect(secondsToChange(lead: 2) == nil)
        let seconds = try ([3, 4, 6, 8, 10, 18] as [Int8]).map { try #require(secondsToChange(lead: $0)) }
        #expect(seconds == seconds.sorted(by: >) && Set(seconds).count == seconds.count, "\(seconds)")
        #expect((20...30).contains(seconds[2]))
        // What exceeds 8 dB counts three times.
        #expect(seconds[4] <= 7 && seconds[5] <= 2)
    }

    @Test("A beacon whose lead has just risen moves sooner than one that lies still", arguments: [4, 6, 8] as [Int8])
    func rise(lead: Int8) throws {
        let (moved, still) = (secondsToChange(lead: lead, before: -20), secondsToChange(lead: lead, before: 0))
        #expect(try #require(moved) < #require(still) * 0.75)
    }

    @Test("Where levels barely change, a move takes less time, and where they swing, more")
    func noise() throws {
        let seconds = try ([0, 2, 4, 8] as [Int8]).map { try #require(secondsToChange(lead: 6, noise: $0)) }
        #expect(seconds == seconds.sorted() && Set(seconds).count == seconds.count, "\(seconds)")
        // No beacon stays for minutes in its old place.
        #expect(try #require(secondsToChange(lead: 6, noise: 40)) <= 60)
    }

    @Test("If many receivers agree, a move takes less time, up to sixteen pairs")
    func witnesses() throws {
        let alone = try #require(secondsToChange(lead: 6))
        #expect(try #require(secondsToChange(lead: 6, receivers: [0, 1, 1])) <= alone / 2 + 1)
        #expect(try #require(secondsToChange(lead: 6, receivers: [0, 0, 1, 1])) <= alone / 4 + 1)
        let sixteen = try #require(secondsToChange(lead: 3, receivers: [0, 0, 0, 0, 1, 1, 1, 1]))
        #expect(secondsToChange(lead: 3, receivers: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]) == sixteen)
        // A deaf receiver does not count.
        func changes(attaching count: Int, _ receivers: [Int?]) -> [String] {
            var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: receivers), attaching: count)
            if receivers.count == 3 {
                bench.engine.setReceiver(ReceiverID(2), of: 2)
                bench.set(1, isHearing: false)
            }
            let levels = { (first: Int8, last: Int8) in receivers.count == 3 ? [first, nil, last] : [first, last] }
            bench.pass(40, levels(-60, -62))
            bench.pass(20, levels(-66, -60))
            return bench.changes()
        }
        #expect(changes(attaching: 2, [0, 0, 1]) == changes(attaching: 2, [0, 1]))
    }

    @Test("A receiver that does not hear the beacon does not count")
    func silentWitness() {
        #expect(
            secondsToChange(lead: 6, receivers: [0, 0, 0, 1, 1, 1], silent: [1, 2, 4, 5]) == secondsToChange(lead: 6))
    }

    @Test("The last leading place wins, and only if it leads by more than the slack")
    func threePlaces() {
        var map = PlaceMap(placeCount: 3, receivers: [0, 1, 2])
        map.rules.memory = 0
        map.rules.holdTime = .seconds(120)
        var bench = PlaceBench(map)
        bench.pass(20, [-60, -90, -90])
        _ = bench.changes()
        bench.pass(3, [-70, -64, -90])
        bench.pass(5, [-70, -90, -69])
        #expect(bench.changes() == [])
        bench.pass(9, [-70, -90, -60])
        #expect(bench.changes().map { $0.suffix(2) } == [" 2"])
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
        hear(&bench, [-70, -67])
        #expect(bench.changes() == [])
        for _ in 0..<20 { hear(&bench, [-70, -67]) }
        let changes = bench.changes()
        #expect(changes.map { $0.suffix(2) } == [" 1"])
        #expect(changes.first.flatMap { Double($0.prefix { $0 != " " }) } ?? 0 < 200)
    }

    @Test("While no receiver hears, earlier levels are no further evidence")
    func interrupted() {
        var map = PlaceMap(placeCount: 2, receivers: [0, 1])
        map.rules.memory = 0
        /// Returns the seconds in which both receivers hear until the beacon moves.
        func seconds(outage: Int) -> Double? {
            var bench = PlaceBench(map, attaching: 2)
            bench.pass(20, [-68, -70])
            bench.pass(3, [-70, -66])
            for receiver in 0..<2 as Range<UInt16> { bench.set(receiver, isHearing: false) }
            bench.pass(outage, [nil, nil])
            for receiver in 0..<2 as Range<UInt16> { bench.set(receiver, isHearing: true) }
            bench.pass(30, [-70, -66])
            return bench.changes().last.flatMap { Double($0.prefix { $0 != " " }) }.map { $0 - Double(outage) }
        }
        #expect(seconds(outage: 4) == seconds(outage: 0))
    }

    @Test("The margin and the hold time set the necessary lead")
    func rules() throws {
        let usual = try #require(secondsToChange(lead: 6))
        #expect(try #require(secondsToChange(lead: 6) { $0.margin = 12 }) > 3 * usual)
        #expect(try #require(secondsToChange(lead: 12) { $0.margin = 12 }) <= usual)
        #expect(try #require(secondsToChange(lead: 6) { $0.holdTime = .seconds(60) }) > 2 * usual)
        #expect(try #require(secondsToChange(lead: 6) { $0.holdTime = .seconds(6) }) < usual / 2)
        #expect(secondsToChange(lead: 1) { ($0.margin, $0.holdTime) = (0, .zero) } == 2)
        #expect(secondsToChange(lead: 0) { ($0.margin, $0.holdTime) = (0, .zero) } == nil)
    }

    @Test("Random leads in both directions for an hour change hardly anything")
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
        #expect(bench.changes().count <= 1)
    }

    @Test("A lead without new readings does not grow")
    func staleLead() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        bench.pass(20, [-60, -62])
        bench.pass(2, [-64, -60])
        bench.pass(50, [nil, nil])
        #expect(bench.changes() == ["3.0 0"])
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
        #expect(bench.changes() == ["3.0 1"])
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
