import BeaconTestKit
import CoreLocation
import Testing

@Suite("A simulated device with failing Bluetooth, and with relaunches of its app")
@MainActor
struct SimulatedDeviceTests {
    private let air = SimulatedAir()
    private let region = CLBeaconRegion(uuid: museum, identifier: "museum")

    private func diary() async -> Diary {
        let diary = Diary(air)
        await air.settle()
        _ = diary.take()
        return diary
    }

    @Test(
        "A device without Bluetooth or without permission fails earlier and later requests (R12, G19)",
        arguments: [SimulatedDevice.BluetoothState.unsupported, .unauthorized])
    func hopeless(state: SimulatedDevice.BluetoothState) async {
        let diary = await diary()
        diary.manager.startMonitoring(for: region)
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await air.settle()
        _ = diary.take()
        air.device.setBluetooth(state)
        await air.advance(by: .seconds(100))
        #expect(diary.take() == ["0.0 ranging failed 16", "0.0 failed museum 5"])
        diary.manager.startRangingBeacons(in: region)
        diary.manager.startMonitoring(for: region)
        await air.settle()
        #expect(diary.take() == ["100.0 ranging in museum failed 16", "100.0 failed museum 5"])
        air.device.setBluetooth(.poweredOn)
        await air.advance(by: .seconds(1))
        #expect(
            diary.take() == ["100.0 started museum", "101.0 ranged []", "101.0 ranged in museum []"])
    }

    @Test("Time passes by exactly the duration, and not at all by none")
    func durations() async {
        let start = air.now
        for (duration, passed) in [
            (Duration.zero, 0.0), (.seconds(-1), 0), (.milliseconds(-500), 0), (.microseconds(500), 0.0005),
            (.microseconds(500), 0.001), (.seconds(1), 1.001),
        ] {
            await air.advance(by: duration)
            #expect(abs(air.now.timeIntervalSince(start) - passed) < 1e-6)
        }
    }

    @Test(
        "Monitoring and ranging are available except without Bluetooth, whatever its state and permission",
        arguments: [(SimulatedDevice.BluetoothState.unsupported, false), (.unauthorized, true), (.poweredOff, true)])
    func availability(state: SimulatedDevice.BluetoothState, isAvailable: Bool) async {
        let diary = await diary()
        func available() -> [Bool] {
            air.device.run {
                [
                    CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self),
                    CLLocationManager.isRangingAvailable(),
                ]
            }
        }
        #expect(available() == [true, true])
        air.device.setBluetooth(state)
        await air.advance(by: .seconds(2))
        #expect(available() == [isAvailable, isAvailable])
        air.device.setBluetooth(.poweredOn)
        await air.advance(by: .seconds(2))
        #expect(available() == [true, true])
        withExtendedLifetime(diary) {}
    }

    @Test("A short reset goes unnoticed, and a longer one fails ranging and makes regions unknown (R12, G14)")
    func resetting() async {
        let diary = await diary()
        air.place(.exhibit(1, at: 2))
        diary.manager.startMonitoring(for: region)
        diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await air.advance(by: .seconds(1))
        _ = diary.take()
        air.device.setBluetooth(.resetting)
        await air.advance(by: .seconds(4))
        #expect(diary.take() == [])
        await air.advance(by: .seconds(60))
        #expect(diary.take() == ["6.0 ranging failed 16", "6.0 museum unknown"])
        air.device.setBluetooth(.poweredOn)
        await air.advance(by: .seconds(1))
        #expect(diary.take() == ["65.1 museum inside", "66.0 ranged [\"1\"]"])
    }

    @Test("A relaunched app has its regions with their states, and no false entry (G4)")
    func relaunch() async {
        let air = SimulatedAir(authorization: .notDetermined)
        let beacon = air.place(.exhibit(1, at: 2))
        do {
            let first = Diary(air)
            first.manager.requestAlwaysAuthorization()
            first.manager.startMonitoring(for: region)
            await air.advance(by: .seconds(2))
            #expect(first.take().last == "0.1 museum inside")
            air.device.relaunch()
            await air.advance(by: .seconds(1))
            // The previous app has ended.
            #expect(first.take() == [])
        }
        let second = Diary(air)
        await air.settle()
        #expect(second.take() == ["0.0 authorization 3"])
        #expect(second.manager.monitoredRegions == [region])
        await air.advance(by: .seconds(60))
        #expect(second.take() == [])
        second.manager.requestState(for: region)
        await air.settle()
        #expect(second.take() == ["60.0 museum inside"])
        beacon.remove()
        air.device.relaunch()
        let third = Diary(air)
        await air.advance(by: .seconds(60))
        #expect(third.take() == ["0.0 authorization 3", "30.0 museum outside", "30.0 exit museum"])
    }

    @Test("A monitor's conditions are kept in the next launch (M1)")
    nonisolated func conditions() async {
        let air = SimulatedAir()
        await air.device.run { await CLMonitor("shop") }
            .add(CLMonitor.BeaconIdentityCondition(uuid: museum), identifier: "museum")
        await air.settle()
        air.device.relaunch()
        let monitor = await air.device.run { await CLMonitor("shop") }
        #expect(await monitor.identifiers == ["museum"])
    }

    @Test("Dates and durations of any size do not trap")
    func extremes() async {
        for start in [
            Date.distantFuture, .distantPast, Date(timeIntervalSince1970: .infinity),
            Date(timeIntervalSince1970: -.infinity), Date(timeIntervalSince1970: 1e300),
        ] {
            let air = SimulatedAir(start: start)
            air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(1)))
                .advertise(every: .seconds(Int64.max))
            await air.advance(by: .seconds(Int64.min))
            await air.advance(by: .seconds(1))
        }
        let air = SimulatedAir(start: Date(timeIntervalSince1970: 8_999_999_990))
        air.place(.exhibit(1, at: 2))
        let diary = Diary(air)
        diary.manager.startMonitoring(for: region)
        await air.advance(by: .seconds(Int64.max))
        #expect(air.now == Date(timeIntervalSince1970: 9_000_000_000))
        #expect(diary.take().last == "0.1 museum inside")
    }
}
