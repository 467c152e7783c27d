import BeaconEngine
import BeaconModel
import Testing

@Suite("Taught places")
struct TaughtPlaceTests {
    /// Three rooms and two receivers: one in the first room, one in the last, and none in between.
    private var map: PlaceMap {
        var map = PlaceMap(placeCount: 3, receivers: [0, 2])
        map.taught = [
            TaughtPoint(place: 0, levels: [.heard(0), .heard(-25)]),
            TaughtPoint(place: 1, levels: [.heard(-15), .heard(-15)]),
            TaughtPoint(place: 2, levels: [.heard(-25), .heard(0)]),
        ]
        return map
    }

    @Test("A room without a receiver is found")
    func betweenReceivers() {
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-60, -84])
        bench.pass(10, [-74, -73])
        bench.pass(10, [-85, -58])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0", " 1", " 2"])
    }

    @Test("A beacon of another power is recognized", arguments: [-8, 8])
    func otherPower(offset: Int8) {
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-74 + offset, -73 + offset])
        #expect(bench.changes().map { $0.suffix(2) } == [" 1"])
    }

    @Test("A beacon leaves after a minute unheard, but not while a taught receiver is deaf")
    func leaving() {
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-60, -84])
        bench.pass(70, [nil, nil])
        #expect(bench.changes() == ["1.0 0", "70.0 nowhere"])
        bench.pass(10, [-60, -84])
        _ = bench.changes()
        bench.set(1, isHearing: false)
        bench.pass(90, [nil, nil])
        #expect(bench.changes().map { $0.suffix(8) } == [" unknown"])
    }

    @Test("Levels unlike all taught ones are in no known place")
    func nowhereLike() {
        var map = PlaceMap(placeCount: 3, receivers: [nil, nil])
        map.taught = self.map.taught
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(20, [-50, -110])
        #expect(!bench.changes().contains { $0.hasSuffix(" 1") || $0.hasSuffix(" 2") })
    }

    @Test("A receiver that was added later, or is deaf, is ignored")
    func absentReceiver() {
        var map = map
        map.taught = map.taught.map { TaughtPoint(place: $0.place, levels: [$0.levels[0], .absent]) }
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-84, -110])
        #expect(bench.changes().last?.hasSuffix(" 2") == true)
    }

    @Test("Seconds without new readings are no evidence")
    func silence() {
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-60, -84])
        // One second of the next room, as at a door, and then silence.
        bench.pass(1, [-70, -78])
        bench.pass(20, [nil, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
    }

    @Test("A larger margin and a longer hold time delay a move", arguments: [(6.0, 20), (12, 20), (6, 80)])
    func rules(margin: Double, holdTime: Int) {
        func moved(_ rules: PlaceRules) -> Double? {
            var map = map
            map.rules = rules
            var bench = PlaceBench(map, attaching: 2)
            bench.pass(20, [-60, -84])
            _ = bench.changes()
            bench.pass(120, [-71, -76])
            return bench.changes().first.flatMap { Double($0.prefix { $0 != " " }) }
        }
        var rules = PlaceRules()
        let usual = moved(rules) ?? .infinity
        (rules.margin, rules.holdTime) = (margin, .seconds(holdTime))
        let later = moved(rules) ?? .infinity
        #expect(usual < 60)
        #expect(margin == 6 && holdTime == 20 ? later == usual : later > usual)
    }

    @Test(
        "Teaching acts only if a taught place has no receiver, or a receiver that heard it no place",
        arguments: [
            (3, true, 3, false), (3, true, 2, true), (3, false, 2, false), (2, true, 2, false), (2, true, 1, true),
        ])
    func needed(receivers: Int, isHeard: Bool, known: Int, isNeeded: Bool) {
        var map = PlaceMap(placeCount: 2, receivers: (0..<receivers).map { $0 < known ? $0 % 2 : nil })
        let third = (0..<receivers - 2).map { _ in isHeard ? TaughtPoint.Level.heard(-20) : .silent }
        map.taught = [
            TaughtPoint(place: 0, levels: [.heard(-25), .heard(0)] + third),
            TaughtPoint(place: 1, levels: [.heard(0), .heard(-3)] + third),
        ]
        #expect(map.needsTeaching == isNeeded)
    }

    @Test("Teaching that is not needed changes nothing", arguments: [(false, " 0"), (true, " 1")])
    func needless(hasRoomWithoutReceiver: Bool, place: String) {
        var map = PlaceMap(placeCount: 3, receivers: [0, 1])
        map.taught = [
            TaughtPoint(place: 0, levels: [.heard(-25), .heard(0)]),
            TaughtPoint(place: 1, levels: [.heard(0), .heard(-3)]),
        ]
        if hasRoomWithoutReceiver { map.taught.append(TaughtPoint(place: 2, levels: [.heard(-40), .heard(-10)])) }
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(20, [-60, -63])
        #expect(bench.changes().map { $0.suffix(2) } == [place[...]])
    }

    @Test("Levels unlike all taught ones are in the place of the strongest receiver")
    func unlike() {
        var map = map
        // The middle is taught, and only at one spot.
        map.taught = [map.taught[1]]
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(20, [-50, -52])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
    }

    @Test("Each taught point is judged by the others")
    func judgement() {
        var map = map
        let near = map.taught[0]
        var far = near
        far.levels = [.heard(-2), .heard(-23)]
        // A point that was taught in the wrong room.
        var wrong = map.taught[2]
        wrong.place = 1
        wrong.levels = [.heard(-24), .heard(-1)]
        let last = map.taught[2]
        map.taught = [near, far, map.taught[1], map.taught[1], wrong, last, last]
        #expect(map.foundPlaces(of: map.taught, areTaught: true) == [0, 0, 1, 1, 2, 2, 2])
        #expect(map.foundPlaces(of: [near], areTaught: false) == [0])
    }
}
