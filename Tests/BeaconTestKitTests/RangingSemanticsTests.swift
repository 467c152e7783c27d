import BeaconTestKit
import CoreLocation
import Testing

/// One test for each known rule of Core Location's ranging, with the id from docs/rules.md.
@Suite("Ranging as in Core Location")
@MainActor
struct RangingSemanticsTests {
    private let air = SimulatedAir()
    private let constraint = CLBeaconIdentityConstraint(uuid: museum)
    private var region: CLBeaconRegion { CLBeaconRegion(uuid: museum, identifier: "museum") }

    @Test("R1 One callback a second for each constraint")
    func r1() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum, major: 1))
        await air.advance(by: .seconds(5))
        #expect(diary.take().count == 10)
    }

    @Test("R2 The callback has an empty array if nothing matches")
    func r2() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(2))
        #expect(diary.take() == ["1.0 ranged []", "2.0 ranged []"])
    }

    @Test("R3 Nearest first")
    func r3() async {
        let diary = Diary(air)
        air.place(.exhibit(1, at: 8))
        air.place(.exhibit(2, at: 0.2))
        air.place(.exhibit(3, at: 2))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(3))
        #expect(diary.beacons.map(\.minor) == [2, 3, 1])
        #expect(diary.beacons.map(\.proximity) == [.immediate, .near, .far])
    }

    @Test("R4 Unknown last, so that the first beacon is the nearest")
    func r4() async {
        let diary = Diary(air)
        air.place(.exhibit(1, at: 8))
        let leaving = air.place(.exhibit(2, at: 0.2))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(3))
        #expect(diary.beacons.map(\.minor) == [2, 1])
        leaving.remove()
        await air.advance(by: .seconds(4))
        #expect(diary.beacons.map(\.minor) == [1, 2])
        #expect(diary.beacons.map(\.proximity) == [.far, .unknown])
    }

    @Test("R5 Unknown is accuracy -1 and RSSI 0")
    func r5() async throws {
        let diary = Diary(air)
        let beacon = air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(2))
        beacon.remove()
        await air.advance(by: .seconds(4))
        let unknown = try #require(diary.beacons.first)
        #expect(unknown.proximity == .unknown)
        #expect(unknown.accuracy == -1)
        #expect(unknown.rssi == 0)
    }

    @Test("R6 The RSSI is the mean of the second")
    func r6() async throws {
        let diary = Diary(air)
        air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(1))
        #expect(diary.beacons.first?.rssi == -59)
        air.noise = 6
        await air.advance(by: .seconds(60))
        let rssi = diary.history.dropFirst(2).compactMap { $0.beacons.first?.rssi }
        let mean = Double(rssi.reduce(0, +)) / Double(rssi.count)
        #expect(abs(mean + 59) < 1)
        // Means of ten readings vary less than single readings.
        #expect(rssi.allSatisfy { abs($0 + 59) < 8 })
    }

    @Test("R7 A beacon unheard for 2 s is unknown, after 10 s it is gone")
    func r7() async {
        let diary = Diary(air)
        let beacon = air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(5))
        beacon.remove()
        await air.advance(by: .seconds(10))
        let states = diary.history.map { $0.beacons.first.map { $0.proximity == .unknown ? "?" : "!" } ?? "-" }
        #expect(states.joined() == "!!!!!!????????-")
    }

    @Test("R8 A changed address makes two beacons for a while, like two devices with one identity")
    func r8() async {
        let diary = Diary(air)
        let phone = air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(5))
        phone.changeAddress()
        await air.advance(by: .seconds(4))
        #expect(diary.beacons.map(\.proximity) == [.near, .unknown])
        await air.advance(by: .seconds(7))
        #expect(diary.beacons.count == 1)
        air.place(.exhibit(1, at: 6))
        await air.advance(by: .seconds(3))
        #expect(diary.beacons.map(\.proximity) == [.near, .far])
    }

    @Test("R9 A beacon that satisfies several constraints is in each callback")
    func r9() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        air.place(.exhibit(7, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum, major: 1, minor: 7))
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum, major: 2))
        await air.advance(by: .seconds(1))
        #expect(diary.take().sorted() == ["1.0 ranged [\"7\"]", "1.0 ranged [\"7\"]", "1.0 ranged []"])
    }

    @Test("R10 Starting twice has no further effect, and an equal constraint stops ranging")
    func r10() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        diary.manager.startRangingBeacons(satisfying: constraint)
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        #expect(diary.manager.rangedBeaconConstraints == [constraint])
        await air.advance(by: .seconds(1))
        #expect(diary.take().count == 1)
        diary.manager.stopRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        #expect(diary.manager.rangedBeaconConstraints.isEmpty)
        await air.advance(by: .seconds(3))
        #expect(diary.take().isEmpty)
    }

    @Test("R11 Each kind of request has its own callback")
    func r11() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        diary.manager.startRangingBeacons(in: region)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["1.0 ranged in museum []"])
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["2.0 ranged []", "2.0 ranged in museum []"])
        #expect(diary.manager.rangedRegions.map(\.identifier) == ["museum"])
        diary.manager.stopRangingBeacons(in: region)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["3.0 ranged []"])
    }

    @Test("R12 With Bluetooth off, ranging fails as unavailable, and resumes by itself when it returns")
    func r12() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        diary.manager.startRangingBeacons(satisfying: constraint)
        diary.manager.startRangingBeacons(in: region)
        air.device.setBluetooth(isOn: false)
        await air.advance(by: .seconds(2))
        #expect(diary.take() == ["0.0 ranging failed 16", "0.0 ranging in museum failed 16"])
        air.device.setBluetooth(isOn: true)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["3.0 ranged []", "3.0 ranged in museum []"])
        #expect(diary.errors.allSatisfy { $0 is CLError })
    }

    @Test("R13 There is no limit on ranged constraints")
    func r13() async {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        for major in 0..<100 {
            diary.manager.startRangingBeacons(
                satisfying: CLBeaconIdentityConstraint(uuid: museum, major: UInt16(major)))
        }
        await air.advance(by: .seconds(1))
        #expect(diary.take().count == 100)
    }

    @Test("R14 There is no background in which ranging would end by itself")
    func r14() async {
        let diary = Diary(air)
        air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(60))
        #expect(diary.history.count == 60)
        #expect(diary.history.allSatisfy { $0.beacons.count == 1 })
    }

    @Test("R15 Ranging needs no monitoring")
    func r15() async {
        let diary = Diary(air)
        air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(1))
        #expect(diary.beacons.count == 1)
        #expect(diary.manager.monitoredRegions.isEmpty)
    }

    @Test("Ranging belongs to the manager that requested it")
    func managers() async {
        let asking = Diary(air)
        let other = Diary(air)
        await air.settle()
        _ = other.take()
        asking.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(2))
        #expect(other.take().isEmpty)
        #expect(other.manager.rangedBeaconConstraints.isEmpty)
    }

    @Test("A beacon's time is when it was last heard")
    func timestamp() async throws {
        let diary = Diary(air)
        let beacon = air.place(.exhibit(1, at: 1))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(2))
        let heard = air.now
        beacon.remove()
        await air.advance(by: .seconds(3))
        #expect(try #require(diary.beacons.first).timestamp == heard)
    }
}
