import BeaconTestKit
import CoreLocation
import Testing

@Suite("Launches and windows of an app")
@MainActor
struct AppLaunchTests {
    private let phone = Phone()
    private var device: SimulatedDevice { phone.device }
    private var air: SimulatedAir { phone.air }

    // MARK: - Launches

    @Test("In a launch: the closure, the authorization, the state, the entry, and the events after it (L13)")
    func order() async {
        phone.onLaunch = { app in
            app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        }
        _ = await phone.launch()
        device.end(by: .system)
        device.setBluetooth(isOn: true)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(2))
        #expect(phone.take() == ["launch", "authorization 3", "inside", "enter", "ranged 1", "ranged 1"])
        #expect(device.isLaunchedByEvent)
        #expect(device.appState == .background)
    }

    @Test("A launch by the user begins in the foreground, with a new app object")
    func byUser() async {
        _ = await phone.launch()
        weak let first = phone.app
        device.end(by: .user)
        await air.settle()
        #expect(first == nil && device.app(as: Phone.App.self) == nil)
        device.enterForeground()
        await air.settle()
        #expect(phone.take() == ["launch", "authorization 3"])
        #expect(device.appState == .foreground && !device.isLaunchedByEvent)
        #expect(phone.app.manager.monitoredRegions.count == 1)
    }

    @Test("A second launch closure is an update: the old app ends, its regions stay")
    func update() async {
        _ = await phone.launch()
        weak let old = phone.app
        let new = device.launch { CLLocationManager() }
        #expect(old == nil)
        #expect(new.monitoredRegions.count == 1)
    }

    @Test("A delegate that is set after the launch closure has returned misses the event, or receives it (L18)")
    func lateDelegate() async {
        for policy in [BackgroundPolicy.LateDelegate.losesTheEvent, .receivesTheEvent] {
            let phone = Phone()
            _ = await phone.launch(hasDelegate: false)
            phone.device.backgroundPolicy.lateDelegate = policy
            phone.device.end(by: .system)
            phone.air.place(.exhibit(1, at: 2))
            await phone.air.advance(by: .seconds(1))
            #expect(phone.take() == ["launch"])
            phone.app.manager.delegate = phone.app
            await phone.air.settle()
            #expect(phone.take() == ["authorization 3"] + (policy == .receivesTheEvent ? ["inside", "enter"] : []))
        }
    }

    @Test("A delegate that is set by the launch closure's own task is late, too (L18)")
    func delegateOfTask() async {
        phone.onLaunch = { app in Task { @MainActor in app.manager.delegate = app } }
        _ = await phone.launch(hasDelegate: false)
        device.end(by: .system)
        await phone.enter()
        #expect(phone.take() == ["launch", "authorization 3"])
    }

    @Test("An app that its user ended is launched only if the policy says so (L19)", arguments: [false, true])
    func endedByUser(launches: Bool) async {
        _ = await phone.launch()
        device.backgroundPolicy.launchesAfterUserEnds = launches
        device.end(by: .user)
        await phone.enter()
        #expect(phone.take() == (launches ? ["launch", "authorization 3", "inside", "enter"] : []))
    }

    @Test(
        "A missing background mode prevents launches, unless the policy says otherwise (L20)", arguments: [true, false])
    func backgroundMode(isNeeded: Bool) async {
        _ = await phone.launch()
        device.hasLocationBackgroundMode = false
        device.backgroundPolicy.launchNeedsBackgroundMode = isNeeded
        device.end(by: .system)
        await phone.enter()
        #expect(phone.take() == (isNeeded ? [] : ["launch", "authorization 3", "inside", "enter"]))
    }

    @Test("After a restart nothing launches the app before the device is unlocked (L12)")
    func restart() async {
        _ = await phone.launch()
        device.restart()
        await phone.enter()
        #expect(phone.take() == [])
        #expect(device.appState == .notRunning(.restart))
        device.unlock()
        await air.settle()
        #expect(phone.take() == ["launch", "authorization 3", "inside", "enter"])
    }

    @Test("A region's exit time-out continues across a launch (L1)")
    func exitAcrossLaunch() async {
        let beacon = await phone.launch(inside: true)
        beacon?.remove()
        await air.advance(by: .seconds(20))
        device.end(by: .system)
        device.enterForeground()
        await air.advance(by: .seconds(11))
        #expect(phone.take() == ["launch", "authorization 3", "outside", "exit"])
    }

    @Test("Without a launch closure, nothing launches, and a test may make managers after relaunch()")
    func withoutClosure() async {
        let air = SimulatedAir()
        let first = Diary(air)
        first.manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
        await air.advance(by: .seconds(31))
        air.device.end(by: .system)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(air.device.appState == .notRunning(.system))
        air.device.relaunch()
        let second = Diary(air)
        await air.settle()
        #expect(second.take() == ["0.0 authorization 3", "0.0 museum inside", "0.0 enter museum"])
    }

    // MARK: - Windows

    @Test("The window after the foreground, and the window of a wake (L14)")
    func windows() async {
        _ = await phone.launch()
        device.backgroundPolicy.backgroundWindow = .seconds(3)
        device.backgroundPolicy.wakeWindow = .fixed(.seconds(7))
        phone.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await air.settle()
        device.enterBackground()
        await air.advance(by: .seconds(60))
        #expect(phone.take().count == 3)
        _ = phone.takeWithTimes()
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(60))
        #expect(phone.takeWithTimes().last == "7.0 ranged 1")
    }

    @Test("Another event in a window starts it again, or keeps its end (L14)")
    func anotherEvent() async {
        for (policy, last) in [
            (BackgroundPolicy.AnotherEvent.startsTheWindowAgain, "16.0 ranged 1"), (.keepsTheEnd, "10.0 ranged 1"),
        ] {
            let phone = Phone()
            _ = await phone.launch()
            phone.app.manager.startMonitoring(
                for: CLBeaconRegion(uuid: museum, major: 1, minor: 2, identifier: "second"))
            phone.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
            await phone.air.advance(by: .seconds(31))
            phone.device.backgroundPolicy.anotherEvent = policy
            await Column.suspended.move(phone)
            _ = phone.takeWithTimes()
            phone.air.place(.exhibit(1, at: 2))
            await phone.air.advance(by: .seconds(6))
            phone.air.place(.exhibit(2, at: 2))
            await phone.air.advance(by: .seconds(60))
            #expect(phone.takeWithTimes().last?.hasPrefix(last.prefix(4)) == true)
        }
    }

    @Test("A window of zero seconds still delivers its event (L14)")
    func zero() async {
        _ = await phone.launch()
        device.backgroundPolicy.wakeWindow = .fixed(.zero)
        await Column.suspended.move(phone)
        await phone.enter()
        #expect(phone.take() == ["inside", "enter"])
        #expect(device.appState == .suspended)
    }

    @Test("A drawn window follows the seed (L14)")
    func drawn() async {
        func ends(seed: UInt64) async -> [String] {
            let phone = Phone(seed: seed)
            let beacon = await phone.launch()
            #expect(beacon == nil)
            phone.device.backgroundPolicy.wakeWindow = .drawn(from: .zero, to: .seconds(30))
            phone.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
            await Column.suspended.move(phone)
            _ = phone.takeWithTimes()
            for _ in 0..<4 {
                let beacon = phone.air.place(.exhibit(1, at: 2))
                await phone.air.advance(by: .seconds(1))
                beacon.remove()
                await phone.air.advance(by: .seconds(120))
            }
            return phone.takeWithTimes()
        }
        let first = await ends(seed: 1)
        #expect(await ends(seed: 1) == first)
        #expect(await ends(seed: 2) != first)
    }

    @Test("Bounds: values of any size do not trap, and count as the nearest bound")
    func bounds() async {
        _ = await phone.launch()
        device.backgroundPolicy.backgroundWindow = .seconds(Int64.max)
        device.backgroundPolicy.wakeWindow = .drawn(from: .seconds(Int64.min), to: .seconds(Int64.max))
        device.backgroundPolicy.lostExits = .nan
        device.enterBackground()
        await air.advance(by: .seconds(29))
        #expect(device.appState == .background)
        await air.advance(by: .seconds(1))
        #expect(device.appState == .suspended)
        await phone.enter()
        #expect(phone.take() == ["inside", "enter"])
    }
}
