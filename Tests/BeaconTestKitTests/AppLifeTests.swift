import BeaconTestKit
import CoreLocation
import Testing

/// The table of event, state, permission and capability: what the app sees. The ids are in docs/rules.md.
@Suite("Events in the states of an app")
@MainActor
struct AppLifeTests {
    enum Permission: CaseIterable {
        case always, whenInUse, provisional, denied, reducedAccuracy

        @MainActor
        func give(_ device: SimulatedDevice) {
            switch self {
            case .always: break
            case .whenInUse: device.authorize(.authorizedWhenInUse)
            case .provisional: device.authorize(.provisionalAlways)
            case .denied: device.authorize(.denied)
            case .reducedAccuracy: device.accuracy = .reducedAccuracy
            }
        }
    }

    /// What an app sees of an entry or exit.
    private func expected(_ permission: Permission, _ column: Column, _ crossing: [String]) -> [String] {
        switch (permission, column) {
        case (.denied, _), (.reducedAccuracy, _): []
        case (_, .foreground): crossing
        case (.always, .awake), (.always, .suspended): crossing
        case (.always, .endedBySystem): ["launch", "authorization 3"] + crossing
        default: []
        }
    }

    @Test("An entry (L1, L2, L3, L4)", arguments: Permission.allCases, Column.allCases)
    func entry(permission: Permission, column: Column) async {
        let phone = Phone()
        _ = await phone.launch()
        permission.give(phone.device)
        await column.move(phone)
        phone.air.place(.exhibit(1, at: 2))
        await phone.air.advance(by: .seconds(1))
        #expect(phone.take() == expected(permission, column, ["inside", "enter"]))
        let isHeld = permission == .provisional && column != .foreground && column != .endedByUser
        #expect(phone.device.isAsking == isHeld)
    }

    @Test("An exit (L1, L2, L3, L4)", arguments: Permission.allCases, Column.allCases)
    func exit(permission: Permission, column: Column) async {
        let phone = Phone()
        let beacon = await phone.launch(inside: true)
        permission.give(phone.device)
        beacon?.remove()
        await phone.air.advance(by: .seconds(29))
        await column.move(phone)
        await phone.air.advance(by: .seconds(2))
        #expect(phone.take() == expected(permission, column, ["outside", "exit"]))
    }

    @Test("An entry wakes for the window, and later the app is suspended again (L1, L14)")
    func window() async {
        let phone = Phone()
        _ = await phone.launch()
        await Column.suspended.move(phone)
        #expect(phone.device.appState == .suspended)
        phone.air.place(.exhibit(1, at: 2))
        await phone.air.advance(by: .seconds(10))
        #expect(phone.device.appState == .background)
        await phone.air.advance(by: .milliseconds(100))
        #expect(phone.device.appState == .suspended)
    }

    @Test("Of a region that was left and entered again while nothing was delivered, the app hears nothing (L2)")
    func unchanged() async {
        let phone = Phone()
        let beacon = await phone.launch(inside: true)
        Permission.whenInUse.give(phone.device)
        await Column.suspended.move(phone)
        beacon?.remove()
        await phone.air.advance(by: .seconds(40))
        phone.air.place(.exhibit(2, at: 2))
        await phone.air.advance(by: .seconds(1))
        phone.device.enterForeground()
        await phone.air.settle()
        #expect(phone.take() == [])
    }

    @Test("With permission while in use, the state is compared when the app returns (L2)", arguments: Column.allCases)
    func compared(column: Column) async {
        let phone = Phone()
        _ = await phone.launch()
        Permission.whenInUse.give(phone.device)
        await column.move(phone)
        phone.air.place(.exhibit(1, at: 2))
        await phone.air.advance(by: .seconds(1))
        _ = phone.take()
        phone.device.enterForeground()
        await phone.air.settle()
        let crossing = ["inside", "enter"]
        switch column {
        case .foreground: #expect(phone.take() == [])
        case .awake, .suspended: #expect(phone.take() == crossing)
        case .endedBySystem, .endedByUser: #expect(phone.take() == ["launch", "authorization 4"] + crossing)
        }
    }

    @Test("A held entry is delivered after the answer always, and dropped by any other, or after an hour (L3)")
    func provisional() async {
        for (answer, expected) in [
            (CLAuthorizationStatus.authorizedAlways, ["inside", "enter"]), (.authorizedWhenInUse, []), (nil, []),
        ] as [(CLAuthorizationStatus?, [String])] {
            let phone = Phone()
            _ = await phone.launch()
            Permission.provisional.give(phone.device)
            await Column.suspended.move(phone)
            phone.air.place(.exhibit(1, at: 2))
            await phone.air.advance(by: .seconds(60))
            #expect(phone.device.isAsking)
            if let answer {
                phone.device.authorize(answer)
            } else {
                await phone.air.advance(by: .seconds(3600))
            }
            await phone.air.settle()
            #expect(phone.take() == expected)
            #expect(!phone.device.isAsking)
            phone.device.enterForeground()
            await phone.air.settle()
            #expect(phone.take() == (answer == .authorizedWhenInUse ? ["authorization 4"] : []))
        }
    }

    @Test("Full accuracy, once allowed, compares the state (L4)")
    func accuracy() async {
        let phone = Phone()
        _ = await phone.launch()
        phone.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        phone.device.accuracy = .reducedAccuracy
        await phone.air.settle()
        #expect(phone.take() == ["authorization 3"])
        #expect(phone.app.manager.accuracyAuthorization == .reducedAccuracy)
        phone.air.place(.exhibit(1, at: 2))
        await phone.air.advance(by: .seconds(10))
        #expect(phone.take() == [])
        phone.device.accuracy = .fullAccuracy
        await phone.air.advance(by: .seconds(1))
        #expect(phone.take() == ["authorization 3", "inside", "enter", "ranged 1"])
    }

    @Test("Temporary full accuracy lasts while the app is in use (L22)")
    func temporaryAccuracy() async {
        let phone = Phone()
        _ = await phone.launch()
        phone.device.accuracy = .reducedAccuracy
        phone.app.manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "museum", completion: nil)
        await phone.air.settle()
        #expect(phone.app.manager.accuracyAuthorization == .fullAccuracy)
        await Column.awake.move(phone)
        await phone.air.advance(by: .seconds(4))
        #expect(phone.app.manager.accuracyAuthorization == .fullAccuracy)
        await phone.air.advance(by: .seconds(2))
        #expect(phone.app.manager.accuracyAuthorization == .reducedAccuracy)
    }

    @Test(
        "Ranging reports come each second while the app runs, and are not made up later (L6)",
        arguments: Column.allCases)
    func ranging(column: Column) async {
        let phone = Phone()
        _ = await phone.launch(inside: true)
        phone.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await phone.air.advance(by: .seconds(2))
        await column.move(phone)
        await phone.air.advance(by: .seconds(4))
        let runs = column == .foreground || column == .awake
        #expect(phone.take() == (runs ? ["ranged 1", "ranged 1", "ranged 1", "ranged 1"] : []))
        await phone.air.advance(by: .seconds(60))
        _ = phone.take()
        phone.device.enterForeground()
        await phone.air.advance(by: .seconds(2))
        let isOver = column == .endedBySystem || column == .endedByUser
        #expect(phone.take() == (isOver ? ["launch", "authorization 3"] : ["ranged 1", "ranged 1"]))
    }

    @Test("The state comes when the screen lights up (L7)", arguments: Column.allCases)
    func display(column: Column) async {
        let phone = Phone()
        phone.region.notifyEntryStateOnDisplay = true
        _ = await phone.launch(inside: true)
        await column.move(phone)
        phone.device.turnScreenOn()
        await phone.air.settle()
        switch column {
        case .foreground, .awake, .suspended: #expect(phone.take() == ["inside"])
        case .endedBySystem: #expect(phone.take() == ["launch", "authorization 3", "inside"])
        case .endedByUser: #expect(phone.take() == [])
        }
    }

    @Test("Bluetooth off and on: the state waits for the next wake, without an exit, and launches nothing (L10)")
    func bluetooth() async {
        let phone = Phone()
        _ = await phone.launch(inside: true)
        await Column.suspended.move(phone)
        phone.device.setBluetooth(isOn: false)
        await phone.air.advance(by: .seconds(60))
        #expect(phone.take() == [])
        phone.device.enterForeground()
        await phone.air.settle()
        #expect(phone.take() == ["unknown"])
        await Column.endedBySystem.move(phone)
        phone.device.setBluetooth(isOn: true)
        await phone.air.advance(by: .seconds(1))
        #expect(phone.take() == [])
        #expect(phone.device.appState == .notRunning(.system))
    }

    @Test("A changed permission is reported at the next wake or launch (L11)", arguments: Column.allCases)
    func permission(column: Column) async {
        let phone = Phone()
        _ = await phone.launch()
        await column.move(phone)
        phone.device.authorize(.authorizedWhenInUse)
        await phone.air.settle()
        let runs = column == .foreground || column == .awake
        #expect(phone.take() == (runs ? ["authorization 4"] : []))
        phone.device.enterForeground()
        await phone.air.settle()
        switch column {
        case .foreground, .awake: #expect(phone.take() == [])
        case .suspended: #expect(phone.take() == ["authorization 4"])
        case .endedBySystem, .endedByUser: #expect(phone.take() == ["launch", "authorization 4"])
        }
    }

    @Test("A permission for once ends with the suspension (L22)")
    func once() async {
        let phone = Phone()
        _ = await phone.launch()
        phone.device.authorize(.once)
        await phone.air.settle()
        #expect(phone.take() == ["authorization 4"])
        await Column.suspended.move(phone)
        phone.device.enterForeground()
        await phone.air.settle()
        #expect(phone.take() == ["authorization 0", "unknown"])
    }
}
