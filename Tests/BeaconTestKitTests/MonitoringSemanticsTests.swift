import BeaconTestKit
import CoreLocation
import Testing

/// One test for each known rule of Core Location's region monitoring, with the id from docs/rules.md.
@Suite("Region monitoring as in Core Location")
@MainActor
struct MonitoringSemanticsTests {
    private let air = SimulatedAir()
    private let region = CLBeaconRegion(uuid: museum, identifier: "museum")

    private func diary(authorized: Bool = true) async -> Diary {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        return diary
    }

    @Test("G1 Up to twenty regions per app; only the next one fails")
    func g1() async {
        let diary = await diary()
        for number in 0..<21 {
            diary.manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "\(number)"))
        }
        await air.settle()
        let reported = diary.take()
        #expect(reported.count == 21)
        #expect(reported.last == "0.0 failed 20 5")
        #expect(diary.manager.monitoredRegions.count == 20)
    }

    @Test("G1 Without permission, a region beyond the limit is denied like the others")
    func g1Denied() async {
        let diary = await diary()
        air.device.authorize(.denied)
        await air.settle()
        _ = diary.take()
        for number in 0..<21 {
            diary.manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "\(number)"))
        }
        await air.settle()
        #expect(diary.take() == (0..<21).map { "0.0 failed \($0) 4" })
        #expect(diary.manager.monitoredRegions.count == 20)
    }

    @Test("G2 A region with the same identifier replaces the first")
    func g2() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        diary.manager.startMonitoring(for: CLBeaconRegion(uuid: museum, major: 4, identifier: "museum"))
        await air.settle()
        #expect(diary.manager.monitoredRegions.count == 1)
        #expect((diary.manager.monitoredRegions.first as? CLBeaconRegion)?.major == 4)
    }

    @Test("G3 didStartMonitoringFor reports success")
    func g3() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.settle()
        #expect(diary.take() == ["0.0 started museum"])
    }

    @Test("G4 Regions belong to all managers of the app, as separate objects")
    func g4() async {
        let first = await diary()
        let second = await diary()
        first.manager.startMonitoring(for: region)
        await air.settle()
        #expect(second.manager.monitoredRegions == [region])
        #expect(second.manager.monitoredRegions.first !== region)
    }

    @Test("G5 Any manager can stop a region by its identifier, and stopping an unmonitored region is harmless")
    func g5() async {
        let first = await diary()
        let second = await diary()
        first.manager.startMonitoring(for: region)
        await air.settle()
        second.manager.stopMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "never"))
        await air.settle()
        #expect(first.manager.monitoredRegions.count == 1)
        second.manager.stopMonitoring(for: CLBeaconRegion(uuid: museum, major: 9, identifier: "museum"))
        await air.settle()
        #expect(first.manager.monitoredRegions.isEmpty)
    }

    @Test("G6 Regions can be registered before permission, and become active with it")
    func g6() async {
        let air = SimulatedAir(authorization: .notDetermined)
        let diary = Diary(air)
        await air.settle()
        #expect(diary.take() == ["0.0 authorization 0"])
        air.place(.exhibit(1, at: 1))
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(3))
        #expect(diary.take() == ["0.0 started museum"])
        diary.manager.requestAlwaysAuthorization()
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["3.0 authorization 3", "3.1 museum inside"])
    }

    @Test("G7 Enter follows only from outside, exit only from inside; each change delivers the state")
    func g7() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(32))
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(5))
        beacon.remove()
        await air.advance(by: .seconds(60))
        #expect(
            diary.take() == [
                "0.0 started museum", "30.0 museum outside", "32.1 museum inside", "32.1 enter museum",
                "67.0 museum outside", "67.0 exit museum",
            ])
    }

    @Test("G8 Registration inside gives the state but no entry")
    func g8() async {
        let diary = await diary()
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(5))
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(30))
        #expect(diary.take() == ["5.0 started museum", "5.1 museum inside"])
    }

    @Test("G9 Further beacons cause no events, and the last one to leave causes the exit")
    func g9() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        let first = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        let second = air.place(.exhibit(2, at: 2))
        await air.advance(by: .seconds(1))
        _ = diary.take()
        first.remove()
        await air.advance(by: .seconds(60))
        #expect(diary.take().isEmpty)
        second.remove()
        await air.advance(by: .seconds(60))
        #expect(diary.take() == ["123.0 museum outside", "123.0 exit museum"])
    }

    @Test("G10 The state precedes the entry, and a request in between agrees")
    func g10() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        _ = diary.take()
        var asked = false
        diary.onEnter = { region in
            guard !asked else { return }
            asked = true
            diary.manager.requestState(for: region)
        }
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["31.1 museum inside", "31.1 enter museum", "31.1 museum inside"])
    }

    @Test("G11 A region without entries and exits still reports its state")
    func g11() async {
        let diary = await diary()
        region.notifyOnEntry = false
        region.notifyOnExit = false
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        beacon.remove()
        await air.advance(by: .seconds(60))
        #expect(
            diary.take() == [
                "0.0 started museum", "30.0 museum outside", "31.1 museum inside", "62.0 museum outside",
            ])
    }

    @Test("G12 A region that requests it reports its state when the display lights up inside")
    func g12() async {
        let diary = await diary()
        region.notifyEntryStateOnDisplay = true
        diary.manager.startMonitoring(for: region)
        air.device.lightUpDisplay()
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["0.0 started museum", "0.1 museum inside"])
        air.device.lightUpDisplay()
        await air.settle()
        #expect(diary.take() == ["1.0 museum inside"])
    }

    @Test("G13 Entry with the first advert, exit 30 s after the last")
    func g13() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        _ = diary.take()
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(4))
        beacon.remove()
        await air.advance(by: .seconds(60))
        #expect(
            diary.take().filter { $0.contains("enter") || $0.contains("exit") } == [
                "31.1 enter museum", "65.0 exit museum",
            ])
    }

    @Test("G14 With Bluetooth off, no region exits; the state is unknown, and delivered once it is known again")
    func g14() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        _ = diary.take()
        air.device.setBluetooth(isOn: false)
        await air.advance(by: .seconds(100))
        #expect(diary.take() == ["1.0 museum unknown"])
        air.device.setBluetooth(isOn: true)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["101.1 museum inside"])
    }

    @Test("G14a After Bluetooth was off, a beacon that appeared is entered, and one that disappeared is exited")
    func g14a() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        _ = diary.take()
        air.device.setBluetooth(isOn: false)
        await air.advance(by: .seconds(9))
        let beacon = air.place(.exhibit(1, at: 2))
        air.device.setBluetooth(isOn: true)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["31.0 museum unknown", "40.1 museum inside", "40.1 enter museum"])
        air.device.setBluetooth(isOn: false)
        await air.advance(by: .seconds(9))
        beacon.remove()
        air.device.setBluetooth(isOn: true)
        await air.advance(by: .seconds(60))
        let left = diary.take()
        #expect(left.first == "41.0 museum unknown")
        #expect(left.filter { $0.hasSuffix("museum") }.count == 1 && left.last?.hasSuffix(" exit museum") == true)
    }

    @Test("G15 An app's maximum of regions are all entered at once, without delay")
    func g15() async {
        let diary = await diary()
        for number in 0..<20 {
            diary.manager.startMonitoring(
                for: CLBeaconRegion(uuid: museum, major: 1, minor: UInt16(number), identifier: "\(number)"))
        }
        await air.advance(by: .seconds(31))
        _ = diary.take()
        for number in 0..<20 { air.place(.exhibit(UInt16(number), at: 2)) }
        await air.advance(by: .seconds(1))
        #expect(diary.take().filter { $0.hasPrefix("31.1 enter") }.count == 20)
    }

    @Test("G17 The cushion of circular regions has no effect: monitoring them fails")
    func g17() async {
        let diary = await diary()
        diary.manager.startMonitoring(
            for: CLCircularRegion(
                center: CLLocationCoordinate2D(latitude: 51, longitude: 7), radius: 200, identifier: "square"))
        await air.settle()
        #expect(diary.take() == ["0.0 failed square 5"])
        #expect(diary.manager.monitoredRegions.isEmpty)
    }

    @Test("Entries and exits go to every manager")
    func everyManager() async {
        let first = await diary()
        let second = await diary()
        first.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(first.take().contains("31.1 enter museum"))
        #expect(second.take().contains("31.1 enter museum"))
    }

    @Test("A deallocated delegate receives nothing, and its manager can be deallocated too")
    func delegates() async {
        var diary: Diary? = await diary()
        diary?.manager.startMonitoring(for: region)
        diary?.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await air.advance(by: .seconds(1))
        weak let gone = diary?.manager
        diary = nil
        await air.advance(by: .seconds(5))
        #expect(gone == nil)
        #expect(Diary(air).manager.monitoredRegions.count == 1)
    }

    @Test("Circular regions and positions fail with a real CLError")
    func refused() async {
        let diary = await diary()
        diary.manager.startMonitoring(
            for: CLCircularRegion(
                center: CLLocationCoordinate2D(latitude: 0, longitude: 0), radius: 100, identifier: "circle"))
        diary.manager.startUpdatingLocation()
        diary.manager.startUpdatingHeading()
        await air.settle()
        #expect(diary.take() == ["0.0 failed circle 5", "0.0 error 0", "0.0 error 3"])
        air.device.run {
            #expect(CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self))
            #expect(!CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
            #expect(!CLLocationManager.isMonitoringAvailable(for: NSString.self))
            #expect(CLLocationManager.isRangingAvailable())
        }
    }

    @Test("Requests of a callback are made at the time of the callback")
    func reaction() async {
        let diary = await diary()
        diary.onEnter = { [weak diary] _ in
            diary?.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        }
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(31))
        _ = diary.take()
        air.place(.exhibit(5, at: 2))
        await air.advance(by: .seconds(3))
        #expect(
            diary.take() == [
                "31.1 museum inside", "31.1 enter museum", "32.0 ranged [\"5\"]", "33.0 ranged [\"5\"]",
                "34.0 ranged [\"5\"]",
            ])
    }

    @Test("An hour passes quickly")
    func anHour() async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        beacon.remove()
        await air.advance(by: .seconds(3600))
        #expect(diary.take().last == "31.0 exit museum")
    }
}
