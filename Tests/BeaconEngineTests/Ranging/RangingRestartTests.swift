import BeaconEngine
import BeaconModel
import Testing

@Suite("Starting and restarting of ranging")
struct RangingRestartTests {
    private let everyone = BeaconConstraint(uuid: .test)

    private func only(_ minor: UInt16) -> BeaconConstraint { BeaconConstraint(uuid: .test, major: 1, minor: minor) }

    /// Returns the beacon in the newest report of a request.
    private func newest(_ ranging: RangingID, in reports: [RangingReport]) -> RangedBeacon? {
        reports.last { $0.ranging == ranging }?.beacons.first
    }

    @Test("A request that is stopped within a second leaves no reading, level or proximity for the next")
    func stoppedInMidSecond() throws {
        var engine = Engine()
        let first = engine.startRanging(everyone)
        engine.hear(from: 0.1, to: 5.45, every: 0.1) { .of(at: $0, rssi: -40) }
        engine.stopRanging(first)
        engine.advance(to: .at(240.5))
        _ = engine.drainEvents()
        let second = engine.startRanging(everyone)
        engine.receive(.of(at: 240.6, rssi: -85))
        engine.advance(to: .at(241))
        let beacon = try #require(newest(second, in: engine.reports()))
        #expect(beacon.rssi == -85)
        #expect(beacon.proximity == .far)
        #expect(abs(beacon.accuracy - 30.59) < 0.1)
    }

    @Test("A beacon that only a region heard in between is ranged at its new distance, not at its old one")
    func heardByRegionMeanwhile() throws {
        var engine = Engine()
        _ = engine.startMonitoring(MonitoredRegion(everyone))
        let first = engine.startRanging(everyone)
        engine.hear(from: 0.1, to: 60.1, every: 1) { .of(at: $0, rssi: -59) }
        engine.stopRanging(first)
        engine.hear(from: 61.1, to: 3661.1, every: 1) { .of(at: $0, rssi: -77) }
        let second = engine.startRanging(everyone)
        engine.receive(.of(at: 3662.1, rssi: -77))
        engine.advance(to: .at(3663))
        let beacon = try #require(newest(second, in: engine.reports()))
        #expect(beacon.proximity == .far)
        #expect(abs(beacon.accuracy - 10.68) < 0.01)
    }

    @Test("Hysteresis does not outlive its request")
    func hysteresis() throws {
        var engine = Engine()
        let first = engine.startRanging(everyone)
        engine.hear(from: 0.1, to: 5.1, every: 0.1) { .of(at: $0, rssi: -65) }
        engine.stopRanging(first)
        let second = engine.startRanging(everyone)
        // 3.05 m: still near with 3 % of hysteresis for a beacon that was near, and far for any other.
        for tenth in 0..<10 { engine.receive(.of(at: 5.11 + Double(tenth) / 100, rssi: tenth < 4 ? -68 : -67)) }
        engine.advance(to: .at(6))
        let beacon = try #require(newest(second, in: engine.reports()))
        #expect(beacon.accuracy > 3 && beacon.accuracy < 3.09)
        #expect(beacon.proximity == .far)
    }

    @Test("A request that begins while another ranges the beacon shares its history")
    func rangedByAnother() throws {
        func beacon(isRestarted: Bool) throws -> RangedBeacon {
            var engine = Engine()
            let all = engine.startRanging(everyone)
            var one = engine.startRanging(only(1))
            engine.hear(from: 0.1, to: 10.1, every: 0.1) { .of(at: $0, rssi: -50) }
            if isRestarted {
                engine.stopRanging(one)
                one = engine.startRanging(only(1))
            }
            engine.hear(from: 10.2, to: 11, every: 0.1) { .of(at: $0, rssi: -70) }
            engine.advance(to: .at(11))
            let reports = engine.reports()
            #expect(newest(all, in: reports) == newest(one, in: reports))
            return try #require(newest(one, in: reports))
        }
        #expect(try beacon(isRestarted: true) == beacon(isRestarted: false))
    }

    @Test("A request that ends removes its own beacons, even if it begins again in the same second")
    func othersGoOn() throws {
        var engine = Engine()
        let other = engine.startRanging(only(2))
        let first = engine.startRanging(only(1))
        engine.hear(from: 0.1, to: 10.1, every: 0.1) { .of(minor: 1, at: $0, rssi: -40, address: 1) }
        engine.receive(.of(minor: 2, at: 10.2, rssi: -60, address: 2))
        engine.stopRanging(first)
        let second = engine.startRanging(only(1))
        engine.receive(.of(minor: 1, at: 10.3, rssi: -80, address: 1))
        engine.advance(to: .at(11))
        let reports = engine.reports()
        let beacon = try #require(newest(second, in: reports))
        #expect(beacon.rssi == -80)
        #expect(abs(beacon.accuracy - 15.85) < 0.01)
        #expect(try #require(newest(other, in: reports)).rssi == -60)
    }

    @Test("A request that begins after another ended lists no earlier adverts")
    func nothingFromBefore() {
        var engine = Engine()
        let first = engine.startRanging(everyone)
        engine.receive(.of(at: 0.1))
        engine.stopRanging(first)
        let second = engine.startRanging(everyone)
        engine.advance(to: .at(1))
        let reports = engine.reports()
        #expect(reports.map(\.ranging) == [second])
        #expect(reports.allSatisfy { $0.beacons.isEmpty })
    }

    @Test("A reset after a long deafness restarts the ranging of a receiver's beacons; without it, it continues")
    func afterDeafness() throws {
        for isReset in [true, false] {
            var engine = Engine()
            let ranging = engine.startRanging(everyone)
            engine.hear(from: 0.1, to: 20.1, every: 0.5) { .of(at: $0, rssi: -40) }
            engine.setHearing(false, of: ReceiverID(0), at: .at(20.2))
            engine.setHearing(true, of: ReceiverID(0), at: .at(3620.2))
            if isReset { engine.resetRanging(of: ReceiverID(0)) }
            _ = engine.drainEvents()
            engine.receive(.of(at: 3620.4, rssi: -85))
            engine.advance(to: .at(3621))
            let beacon = try #require(newest(ranging, in: engine.reports()))
            #expect((beacon.proximity == .far) == isReset)
        }
    }
}
