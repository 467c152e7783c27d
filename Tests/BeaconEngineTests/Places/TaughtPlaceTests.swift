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
}
