import BeaconEngine
import BeaconModel
import Testing

@Suite("Region monitoring")
struct RegionMonitoringTests {
    private let allBeacons = BeaconConstraint(uuid: .test)

    @Test("The first matching advert enters, from unknown and from outside, with the previous state")
    func enterHasPreviousState() throws {
        var engine = Engine()
        let region = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1))
        engine.receive(.of(at: 2))
        engine.advance(to: .at(100))
        engine.receive(.of(at: 101))
        let befores = engine.drainEvents().compactMap { event -> RegionState? in
            if case .entered(let change) = event { change.before } else { nil }
        }
        #expect(befores == [.unknown, .outside])
        #expect(engine.state(of: region) == .inside)
    }

    @Test("An exit carries the time at which it was due, 30 s after the last advert, however late time advances")
    func exitTime() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1.25))
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents() == ["enter 1.25", "exit 31.25"])
    }

    @Test("An advert exactly at the deadline is in time")
    func advertAtDeadline() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1))
        engine.receive(.of(at: 31))
        engine.advance(to: .at(60.999))
        #expect(engine.regionEvents() == ["enter 1.0"])
        engine.advance(to: .at(61))
        #expect(engine.regionEvents() == ["exit 61.0"])
    }

    @Test("An advert after the deadline leaves and enters again, in that order")
    func advertAfterDeadline() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1))
        engine.receive(.of(at: 31.001))
        #expect(engine.regionEvents() == ["enter 1.0", "exit 31.0", "enter 31.001"])
    }

    @Test("Further beacons of a region cause no events; it is left when the last is gone")
    func severalBeacons() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(minor: 1, at: 1))
        engine.receive(.of(minor: 2, at: 20, address: 0xC000_0000_0002))
        engine.advance(to: .at(45))
        #expect(engine.regionEvents() == ["enter 1.0"])
        engine.advance(to: .at(51))
        #expect(engine.regionEvents() == ["exit 50.0"])
    }

    @Test(
        "A constraint matches only by its UUID, major and minor",
        arguments: [
            (BeaconConstraint(uuid: .test), true, true, true),
            (BeaconConstraint(uuid: .test, major: 1), true, true, false),
            (BeaconConstraint(uuid: .test, major: 1, minor: 1), true, false, false),
        ])
    func constraints(_ constraint: BeaconConstraint, _ same: Bool, _ otherMinor: Bool, _ otherMajor: Bool) {
        func isEntered(by sighting: Sighting) -> Bool {
            var engine = Engine()
            _ = engine.startMonitoring(MonitoredRegion(constraint))
            engine.receive(sighting)
            return !engine.regionEvents().isEmpty
        }
        #expect(isEntered(by: .of(at: 1)) == same)
        #expect(isEntered(by: .of(minor: 2, at: 1)) == otherMinor)
        #expect(isEntered(by: .of(major: 2, at: 1)) == otherMajor)
        #expect(!isEntered(by: .of(uuid: ProximityUUID(high: 1, low: 2), at: 1)))
    }

    @Test("A minimum prevents weak adverts from entering, and a lower one for exits keeps a region")
    func hysteresis() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, minimumRSSI: -70, exitRSSI: -80))
        engine.receive(.of(at: 1, rssi: -71))
        #expect(engine.regionEvents().isEmpty)
        engine.receive(.of(at: 2, rssi: -70))
        #expect(engine.regionEvents() == ["enter 2.0"])
        engine.hear(from: 3, to: 60, every: 1) { .of(at: $0, rssi: -80) }
        #expect(engine.regionEvents().isEmpty)
        engine.hear(from: 61, to: 100, every: 1) { .of(at: $0, rssi: -81) }
        #expect(engine.regionEvents() == ["exit 90.0"])
    }

    @Test(
        "An advert without a reading proves presence, but cannot reach a minimum",
        arguments: [127, 0, 1, 20] as [Int8])
    func unreadSignal(rssi: Int8) {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1, rssi: rssi))
        #expect(engine.regionEvents() == ["enter 1.0"])

        var strict = Engine()
        _ = strict.startMonitoring(MonitoredRegion(allBeacons, minimumRSSI: -70, exitRSSI: -70))
        strict.receive(.of(at: 1, rssi: rssi))
        #expect(strict.regionEvents().isEmpty)
        strict.receive(.of(at: 2, rssi: -60))
        strict.hear(from: 3, to: 60, every: 1) { .of(at: $0, rssi: rssi) }
        #expect(strict.regionEvents() == ["enter 2.0"])
    }

    @Test("A beacon with the longest legal interval flaps with 10 s, but not with an adaptive time-out")
    func adaptiveExit() {
        func events(isAdaptive: Bool) -> [String] {
            var engine = Engine()
            let region = MonitoredRegion(allBeacons, exitTimeout: .seconds(10), isExitAdaptive: isAdaptive)
            _ = engine.startMonitoring(region)
            engine.hear(from: 0, to: 102.4, every: 10.24) { .of(at: $0) }
            return engine.regionEvents()
        }
        #expect(events(isAdaptive: false).count == 1 + 2 * 10)
        // The interval must repeat before it is known.
        #expect(events(isAdaptive: true) == ["enter 0.0", "exit 10.0", "enter 10.24", "exit 20.24", "enter 20.48"])
    }

    @Test("A region with a beacon heard every 40 s is left after three of the longest legal intervals")
    func adaptiveExitIsBounded() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, isExitAdaptive: true))
        engine.hear(from: 0, to: 400, every: 40) { .of(at: $0) }
        #expect(engine.regionEvents().suffix(3) == ["enter 360.0", "exit 390.72", "enter 400.0"])
        // Only a longer time-out helps.
        var patient = Engine()
        _ = patient.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(60)))
        patient.hear(from: 0, to: 400, every: 40) { .of(at: $0) }
        #expect(patient.regionEvents() == ["enter 0.0"])
    }

    @Test("An adaptive time-out is three times the longest regular gap, and still ends")
    func adaptiveExitEnds() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(10), isExitAdaptive: true))
        engine.hear(from: 0, to: 40, every: 8) { .of(at: $0) }
        engine.advance(to: .at(63))
        #expect(engine.regionEvents() == ["enter 0.0"])
        engine.advance(to: .at(65))
        #expect(engine.regionEvents() == ["exit 64.0"])
    }

    @Test("A long gap is forgotten after two windows of adverts")
    func adaptiveExitForgets() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(10), isExitAdaptive: true))
        engine.hear(from: 0, to: 16, every: 8) { .of(at: $0) }
        engine.hear(from: 17, to: 200, every: 1) { .of(at: $0) }
        engine.advance(to: .at(1000))
        #expect(engine.regionEvents() == ["enter 0.0", "exit 210.0"])
    }

    @Test("Only the configured receiver enters a region")
    func receiver() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, receiver: ReceiverID(1)))
        engine.receive(.of(at: 1, receiver: 0))
        #expect(engine.regionEvents().isEmpty)
        engine.receive(.of(at: 2, receiver: 1))
        #expect(engine.regionEvents() == ["enter 2.0"])
    }

    @Test("Exits name the receiver that heard the beacon last")
    func lastReceiver() throws {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1, receiver: 0))
        engine.receive(.of(at: 2, receiver: 3))
        engine.advance(to: .at(50))
        let exit = try #require(engine.drainEvents().last)
        guard case .exited(let change) = exit else {
            Issue.record("unexpected last event \(exit)")
            return
        }
        #expect(change.receiver == ReceiverID(3))
    }

    @Test(
        "A region of unknown state becomes outside after its time-out, counted from the first time",
        arguments: [10, 30, 600], [false, true])
    func determination(timeout: Int, isAdaptive: Bool) {
        var engine = Engine()
        engine.addReceiver(ReceiverID(0))
        let region = engine.startMonitoring(
            MonitoredRegion(allBeacons, exitTimeout: .seconds(timeout), isExitAdaptive: isAdaptive))
        engine.advance(to: .at(5))
        engine.advance(to: .at(4.9 + Double(timeout)))
        #expect(engine.regionEvents().isEmpty)
        engine.advance(to: .at(5 + Double(timeout)))
        #expect(engine.regionEvents() == ["outside \(5 + Double(timeout))"])
        #expect(engine.state(of: region) == .outside)
        engine.receive(.of(at: 1000))
        #expect(engine.regionEvents() == ["enter 1000.0"])
    }

    @Test("Adverts that are too weak to enter a region of unknown state do not keep it unknown")
    func determinationBesideWeakAdverts() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, minimumRSSI: -70, exitRSSI: -80))
        engine.hear(from: 0, to: 40, every: 1) { .of(at: $0, rssi: -75) }
        #expect(engine.regionEvents() == ["outside 30.0"])
    }

    @Test("A region that is entered before it would count as outside is left at its own time")
    func determinationThenExit() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(2)))
        engine.advance(to: .at(0))
        engine.receive(.of(at: 1))
        engine.advance(to: .at(20))
        #expect(engine.regionEvents() == ["enter 1.0", "exit 3.0"])
    }

    @Test("A region that was inside before has the whole time-out to be heard again, without an enter")
    func restored() {
        var heard = Engine()
        _ = heard.startMonitoring(MonitoredRegion(allBeacons), assuming: .inside)
        heard.advance(to: .at(100))
        heard.receive(.of(at: 129))
        heard.advance(to: .at(158))
        #expect(heard.regionEvents().isEmpty)

        var gone = Engine()
        gone.addReceiver(ReceiverID(0))
        _ = gone.startMonitoring(MonitoredRegion(allBeacons), assuming: .inside)
        gone.advance(to: .at(100))
        gone.advance(to: .at(131))
        #expect(gone.regionEvents() == ["exit 130.0"])

        var outside = Engine()
        _ = outside.startMonitoring(MonitoredRegion(allBeacons), assuming: .outside)
        outside.advance(to: .at(100))
        outside.receive(.of(at: 101))
        #expect(outside.regionEvents() == ["enter 101.0"])
    }

    @Test("Exits of several regions have the order of their times")
    func order() {
        var engine = Engine()
        for timeout in [5, 3, 4] {
            _ = engine.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(timeout)))
        }
        engine.receive(.of(at: 0))
        engine.advance(to: .at(10))
        #expect(
            engine.regionEvents() == ["enter 0.0", "enter 0.0", "enter 0.0", "exit 3.0", "exit 4.0", "exit 5.0"])
    }

    @Test("A stopped region has no more events, and another can reuse its slot")
    func stop() {
        var engine = Engine()
        let first = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.receive(.of(at: 1))
        engine.stopMonitoring(first)
        engine.stopMonitoring(first)
        let second = engine.startMonitoring(MonitoredRegion(allBeacons, exitTimeout: .seconds(5)))
        #expect(first != second)
        #expect(engine.state(of: first) == .unknown)
        engine.receive(.of(at: 2))
        engine.advance(to: .at(100))
        #expect(engine.regionEvents() == ["enter 1.0", "enter 2.0", "exit 7.0"])
    }

    @Test("Time that runs backward counts as the newest time")
    func backwards() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons))
        engine.advance(to: .at(100))
        engine.receive(.of(at: 50))
        engine.advance(to: .at(60))
        engine.advance(to: .at(129))
        #expect(engine.regionEvents() == ["enter 100.0"])
    }

    @Test("The latest possible time is reached without a trap")
    func endOfTime() {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(allBeacons, isExitAdaptive: true))
        _ = engine.startRanging(nil)
        engine.receive(.of(at: 1))
        engine.advance(to: .latest)
        engine.receive(
            Sighting(
                time: .latest, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .public),
                identity: BeaconIdentity(uuid: .test, major: 1, minor: 1), measuredPower: -59, rssi: .unavailable))
        #expect(engine.regionEvents() == ["enter 1.0", "exit 31.0", "enter \(Timestamp.latest.seconds)"])
    }
}
