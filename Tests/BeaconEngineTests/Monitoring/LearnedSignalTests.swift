import BeaconEngine
import BeaconModel
import Testing

@Suite("Regions with learned signals")
struct LearnedSignalTests {
    /// An engine with a region of one beacon.
    private func monitoring(assuming state: RegionState = .unknown) -> Engine {
        var engine = Engine()
        var region = MonitoredRegion(BeaconConstraint(uuid: .test, major: 1, minor: 1))
        region.isSignalLearned = true
        _ = engine.startMonitoring(region, assuming: state)
        return engine
    }

    /// Lets a beacon be heard five times a second.
    private func hear(_ engine: inout Engine, from start: Double, to end: Double, _ rssi: Int8, minor: UInt16 = 1) {
        engine.hear(from: start, to: end, every: 0.2) {
            .of(minor: minor, at: $0, rssi: rssi, address: 0xC000_0000_0000 + UInt64(minor))
        }
    }

    @Test(
        "A room is entered and left at levels relative to the strongest, however far transmitters are turned down",
        arguments: [0, 10, 15] as [Int8])
    func relative(down: Int8) {
        var engine = monitoring()
        // Carried past the receiver, then next door, then back.
        hear(&engine, from: 0, to: 20, -62 - down)
        hear(&engine, from: 20.1, to: 100, -86 - down)
        hear(&engine, from: 100.1, to: 120, -65 - down)
        engine.advance(to: .at(121))
        let events = engine.regionEvents().map { $0.prefix(while: { $0 != "." }) }
        #expect(events == ["enter 0", "exit 50", "enter 100"])
    }

    @Test("The level is also learned from another beacon of the UUID")
    func taughtByAnother() {
        var engine = monitoring()
        hear(&engine, from: 0, to: 20, -62, minor: 2)
        hear(&engine, from: 20.1, to: 60, -80)
        engine.advance(to: .at(61))
        #expect(engine.regionEvents() == ["outside 30.0"])
    }

    @Test("A level that seemed close no longer keeps the region once a strong beacon was heard")
    func revoked() {
        var engine = monitoring()
        hear(&engine, from: 0, to: 9.9, -80)
        hear(&engine, from: 10.1, to: 20, -60, minor: 2)
        hear(&engine, from: 20.1, to: 60, -78)
        engine.advance(to: .at(61))
        #expect(engine.regionEvents().map { $0.prefix(7) } == ["enter 0", "exit 39"])
    }

    @Test(
        "A region that was inside is kept by a level that keeps, and by an advert without a reading",
        arguments: [127, 0, 20] as [Int8])
    func assumedInside(unread: Int8) {
        var engine = monitoring(assuming: .inside)
        hear(&engine, from: 0, to: 1, -62, minor: 2)
        hear(&engine, from: 1.1, to: 60, -80)
        engine.receive(.of(at: 61, rssi: unread))
        engine.advance(to: .at(90))
        #expect(engine.regionEvents() == [])
        engine.advance(to: .at(92))
        #expect(engine.regionEvents() == ["exit 91.0"])
    }

    @Test("A beacon that touches the receiver does not put all others outside")
    func bounded() {
        var engine = monitoring()
        hear(&engine, from: 0, to: 5, -20, minor: 2)
        hear(&engine, from: 5.1, to: 40, -66)
        engine.advance(to: .at(41))
        #expect(engine.regionEvents().map { $0.prefix(7) } == ["enter 5"])
    }

    @Test(
        "A third of the beacons may lie on a receiver without hiding others, in any order",
        arguments: [1, 2], [false, true])
    func lyingOnReceiver(loud: Int, isLoudFirst: Bool) {
        var engine = monitoring()
        let others = (2...5).map { (minor: UInt16($0), rssi: Int8(-74)) }
        let lying = (0..<loud).map { (minor: UInt16(90 + $0), rssi: Int8(-25)) }
        for (position, beacon) in (isLoudFirst ? lying + others : others + lying).enumerated() {
            hear(&engine, from: Double(position) * 10, to: Double(position) * 10 + 9, beacon.rssi, minor: beacon.minor)
        }
        hear(&engine, from: 100, to: 110, -76)
        engine.advance(to: .at(111))
        #expect(engine.regionEvents().last?.prefix(9) == "enter 100")
    }

    @Test("The last beacon that was close does not become an outlier overnight")
    func overnight() {
        var engine = monitoring()
        for minor in 2...4 as ClosedRange<UInt16> {
            hear(&engine, from: Double(minor) * 10, to: Double(minor) * 10 + 9, -62, minor: minor)
        }
        engine.hear(from: 60, to: 50_000, every: 10) { .of(minor: 4, at: $0, rssi: -62, address: 0xC000_0000_0004) }
        hear(&engine, from: 50_001, to: 50_010, -74)
        engine.advance(to: .at(50_050))
        #expect(engine.regionEvents().allSatisfy { !$0.hasPrefix("enter") })
    }

    @Test("Hundreds of weak beacons of the UUID do not hide loud ones")
    func crowd() {
        var engine = monitoring()
        for minor in 100..<300 as Range<UInt16> {
            engine.receive(.of(minor: minor, at: Double(minor), rssi: -78, address: UInt64(minor)))
        }
        for minor in 300..<330 as Range<UInt16> {
            engine.receive(.of(minor: minor, at: Double(minor), rssi: -60, address: UInt64(minor)))
        }
        hear(&engine, from: 400, to: 410, -74)
        engine.advance(to: .at(450))
        #expect(engine.regionEvents().allSatisfy { !$0.hasPrefix("enter") })
    }

    @Test("After the last region was stopped, nothing is tracked for it")
    func stopped() {
        var engine = Engine()
        var region = MonitoredRegion(BeaconConstraint(uuid: .test, major: 1, minor: 1))
        region.isSignalLearned = true
        let ids = (0..<2).map { _ in engine.startMonitoring(region) }
        for id in ids { engine.stopMonitoring(id) }
        hear(&engine, from: 0, to: 5, -60, minor: 2)
        #expect(engine.trackedBeacons == 0)
    }
}
