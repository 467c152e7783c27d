import BeaconTestKit
import CoreBluetooth
import CoreLocation
import Testing

@Suite("What keeps an app awake, and what it misses in the background")
@MainActor
struct AppBackgroundTests {
    private let phone = Phone()
    private var device: SimulatedDevice { phone.device }
    private var air: SimulatedAir { phone.air }

    // MARK: - Staying awake

    @Test("A background task keeps the app awake until it ends, and one that does not end ends the app (L15)")
    func backgroundTask() async {
        _ = await phone.launch()
        let task = device.beginBackgroundTask(name: "upload")
        device.enterBackground()
        await air.advance(by: .seconds(20))
        #expect(device.appState == .background)
        task.end()
        await air.settle()
        #expect(device.appState == .suspended)
        device.enterForeground()
        let handler = BackgroundHandler()
        handler.task = device.beginBackgroundTask(name: "upload") { handler.task?.end() }
        device.enterBackground()
        await air.advance(by: .seconds(31))
        #expect(device.appState == .suspended)
        device.enterForeground()
        device.beginBackgroundTask(name: "upload")
        device.enterBackground()
        await air.advance(by: .seconds(29))
        #expect(device.appState == .background)
        await air.advance(by: .seconds(2))
        #expect(device.appState == .notRunning(.system))
    }

    private final class BackgroundHandler {
        var task: SimulatedDevice.BackgroundTask?
    }

    @Test("Location updates that began in the foreground keep the app awake and in use (L8)", arguments: [true, false])
    func locationUpdates(inForeground: Bool) async {
        _ = await phone.launch()
        device.authorize(.authorizedWhenInUse)
        if !inForeground { device.enterBackground() }
        phone.app.manager.allowsBackgroundLocationUpdates = true
        phone.app.manager.startUpdatingLocation()
        await air.settle()
        device.enterBackground()
        await air.advance(by: .seconds(100))
        _ = phone.take()
        #expect(device.appState == (inForeground ? .background : .suspended))
        await phone.enter()
        #expect(phone.take() == (inForeground ? ["inside", "enter"] : []))
        guard inForeground else { return }
        phone.app.manager.stopUpdatingLocation()
        await air.advance(by: .seconds(10))
        #expect(device.appState == .suspended)
    }

    @Test(
        "An activity session that began in the foreground keeps the app awake and in use (L16)",
        arguments: [true, false])
    func activitySession(inForeground: Bool) async throws {
        _ = await phone.launch()
        device.authorize(.authorizedWhenInUse)
        if !inForeground { device.enterBackground() }
        let session = device.run { CLBackgroundActivitySession() }
        await air.settle()
        var diagnostics = session.diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next()?.insufficientlyInUse == !inForeground)
        device.enterBackground()
        await air.advance(by: .seconds(100))
        _ = phone.take()
        await phone.enter()
        #expect(phone.take() == (inForeground ? ["inside", "enter"] : []))
        session.invalidate()
        await air.advance(by: .seconds(11))
        #expect(device.appState == .suspended)
    }

    @Test("An app that had a service session must make it again after a launch (L17)", arguments: [true, false])
    func serviceSession(makesItAgain: Bool) async throws {
        var session: CLServiceSession?
        phone.onLaunch = { _ in
            if session == nil || makesItAgain { session = CLServiceSession(authorization: .always) }
        }
        let beacon = await phone.launch(inside: true)
        device.end(by: .system)
        beacon?.remove()
        await air.advance(by: .seconds(31))
        #expect(phone.take() == ["launch", "authorization 3", "outside", "exit"])
        await air.advance(by: .seconds(10))
        await phone.enter()
        #expect(phone.take() == (makesItAgain ? ["inside", "enter"] : []))
        guard !makesItAgain else { return }
        let late = device.run { CLServiceSession(authorization: .always) }
        await air.settle()
        #expect(phone.take() == ["inside", "enter"])
        late.invalidate()
    }

    // MARK: - Delays and losses

    @Test("With the screen off, entries and exits are late, and the screen shows them at once (L21)")
    func delays() async {
        _ = await phone.launch()
        device.backgroundPolicy.entryDelay = .seconds(60)
        device.turnScreenOff()
        await air.advance(by: .seconds(10))
        #expect(device.appState == .suspended)
        _ = phone.takeWithTimes()
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(61))
        #expect(phone.takeWithTimes() == ["60.1 inside", "60.1 enter"])
        device.backgroundPolicy.exitDelay = .seconds(900)
        beacon.remove()
        await air.advance(by: .seconds(100))
        #expect(phone.take() == [])
        device.turnScreenOn()
        await air.settle()
        #expect(phone.take() == ["outside", "exit"])
    }

    @Test("Of lost exits the app never hears (L21)")
    func lostExits() async {
        device.backgroundPolicy.lostExits = 1
        let beacon = await phone.launch(inside: true)
        await Column.suspended.move(phone)
        beacon?.remove()
        await air.advance(by: .seconds(40))
        device.enterForeground()
        await air.settle()
        #expect(phone.take() == [])
        await phone.enter()
        #expect(phone.take() == ["inside", "enter"])
    }

    // MARK: - Advertising

    @Test("A beacon is sent in the foreground only, and again when the app returns (L9)", arguments: Column.allCases)
    func advertising(column: Column) async {
        var manager: CBPeripheralManager?
        var isLaunched = false
        phone.onLaunch = { _ in
            manager = isLaunched ? nil : CBPeripheralManager()
            isLaunched = true
        }
        _ = await phone.launch(monitors: false)
        let data = CLBeaconRegion(uuid: museum, major: 1, minor: 1, identifier: "self")
            .peripheralData(withMeasuredPower: nil)
        manager?.startAdvertising(data as? [String: Any])
        await air.settle()
        #expect(device.advertisedFrameCount == 1)
        await column.move(phone)
        #expect(device.advertisedFrameCount == (column == .foreground ? 1 : 0))
        device.enterForeground()
        await air.settle()
        let hasEnded = column == .endedBySystem || column == .endedByUser
        #expect(device.advertisedFrameCount == (hasEnded ? 0 : 1))
    }
}
