import BeaconEngine
import BeaconModel
import Testing

@Suite("The first place of a beacon that arrives")
struct ArrivalTests {
    /// Returns a bench whose receivers have heard another beacon for ten seconds. Its changes are dropped.
    private func bench(_ map: PlaceMap = PlaceMap(placeCount: 3, receivers: [0, 1, 2]), attaching count: Int = 3)
        -> PlaceBench
    {
        var bench = PlaceBench(map, attaching: count)
        bench.pass(10, Array(repeating: -75, count: count), minor: 9)
        _ = bench.changes()
        return bench
    }

    @Test("A receiver that misses the first second of the beacon beside it causes no wrong place")
    func missedSecond() {
        var bench = bench()
        bench.pass(1, [nil, -80, -90])
        bench.pass(20, [-70, -80, -90])
        #expect(bench.changes() == ["13.0 0"])
    }

    @Test(
        "A beacon within a meter of a receiver is placed at once, and so is one that the others hear much worse",
        arguments: [[-58, nil, nil], [-70, -83, -90]] as [[Int8?]])
    func clear(levels: [Int8?]) {
        var bench = bench()
        bench.pass(20, levels)
        #expect(bench.changes() == ["11.0 0"])
    }

    @Test(
        "Any other beacon is placed in its third second, even if nothing hears it any more",
        arguments: [[-70, nil, -90], [-70, -78, -90], [-90, nil, nil]] as [[Int8?]], [1, 20])
    func bound(levels: [Int8?], seconds: Int) {
        var bench = bench()
        bench.pass(seconds, levels)
        bench.pass(20 - seconds, [nil, nil, nil])
        #expect(bench.changes() == ["13.0 0"])
    }

    @Test("With one place, or one place that hears, there is nothing to wait for")
    func onePlace() {
        var single = bench(PlaceMap(placeCount: 1, receivers: [0, 0]), attaching: 2)
        single.pass(5, [-85, nil])
        #expect(single.changes() == ["11.0 0"])
        var half = bench(PlaceMap(placeCount: 2, receivers: [0, 0, 1]))
        half.set(0, isHearing: false)
        half.pass(10, [nil, -75, -75], minor: 9)
        _ = half.changes()
        half.pass(5, [nil, -72, -90])
        #expect(half.changes() == ["21.0 0"])
    }

    @Test("A beacon that comes again after an absence waits again, in full even after a visit of one second")
    func again() {
        var bench = bench()
        bench.pass(10, [-70, -80, -90])
        bench.pass(70, [nil, nil, nil])
        #expect(bench.changes().last == "80.0 nowhere")
        bench.pass(1, [nil, -80, -90])
        bench.pass(10, [-70, -80, -90])
        #expect(bench.changes() == ["93.0 0"])
    }

    @Test("A place that was known before a restart is known again at once")
    func restart() {
        let beacon = BeaconIdentity(uuid: .test, major: 1, minor: 1)
        var bench = bench()
        bench.engine.setKnownPlace(.place(1), of: beacon)
        bench.pass(5, [-74, -72, -90])
        #expect(bench.changes() == ["11.0 1"])
        // A beacon that was away before it arrives like any other.
        bench.engine.setKnownPlace(.nowhere, of: BeaconIdentity(uuid: .test, major: 1, minor: 2))
        bench.pass(5, [-74, -72, -90], minor: 2)
        #expect(bench.changes() == ["18.0 1"])
    }

    @Test("Gateways that report every fifteen seconds do not keep it waiting")
    func rareReports() {
        var bench = bench()
        bench.engine.receive(.of(at: 10.5, rssi: -70, receiver: 0))
        bench.pass(15, [nil, nil, nil])
        #expect(bench.changes() == ["13.0 0"])
    }

    @Test(
        "Taught places wait as well, unless the strongest receiver is as clear",
        arguments: [(-80, "13.0 0"), (-90, "12.0 0")] as [(Int8, String)])
    func taught(other: Int8, change: String) {
        var map = PlaceMap(placeCount: 2, receivers: [0, 1])
        map.taught = [
            TaughtPoint(place: 0, levels: [.heard(-11), .heard(-31)]),
            TaughtPoint(place: 1, levels: [.heard(-31), .heard(-11)]),
        ]
        var bench = bench(map, attaching: 2)
        bench.pass(1, [nil, -75])
        bench.pass(20, [-70, other])
        #expect(bench.changes() == [change])
    }
}
