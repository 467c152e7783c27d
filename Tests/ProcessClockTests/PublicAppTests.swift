import BeaconSupport
import BeaconTestKit
import CoreLocation
import Testing
import XCTest

extension ProcessClockTests {
    @Test("An app after a public one does what it does on time", arguments: Scenario.all)
    @MainActor
    func publicApp(_ scenario: Scenario) async {
        let air = SimulatedAir(controlsTime: true)
        let log = Log()
        let app = air.device.run { scenario.app.init(log) }
        for part in scenario.parts {
            part.action(air)
            await air.advance(by: .seconds(part.seconds))
        }
        #expect(log.entries == scenario.expected)
        withExtendedLifetime(app) {}
    }
}

/// The same with XCTest, whose main thread runs a run loop.
final class PublicAppXCTests: XCTestCase {
    func testPublicApps() {
        for scenario in Scenario.all {
            let air = SimulatedAir(controlsTime: true)
            let log = Log()
            let app = air.device.run { scenario.app.init(log) }
            for part in scenario.parts {
                part.action(air)
                air.advance(by: .seconds(part.seconds))
            }
            XCTAssertEqual(log.entries, scenario.expected, scenario.source)
            withExtendedLifetime(app) {}
        }
    }

    // One air for each asynchronous test: see docs/testing-beacon-apps.md.
    func testPublicAppAsynchronously() async {
        let scenario = Scenario.all[4]
        let air = SimulatedAir(controlsTime: true)
        let log = Log()
        let app = await MainActor.run { air.device.run { scenario.app.init(log) } }
        for part in scenario.parts {
            part.action(air)
            await air.advance(by: .seconds(part.seconds))
        }
        XCTAssertEqual(log.entries, scenario.expected, scenario.source)
        await MainActor.run { withExtendedLifetime(app) {} }
    }
}

/// An app that logs its launches and the entries of its region.
private final class Visitor: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let log: Locked<[String]>

    init(_ log: Locked<[String]>) {
        self.log = log
        super.init()
        log.withLock { $0.append("launch") }
        manager.delegate = self
        manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        log.withLock { $0.append("enter") }
    }
}

/// Launches in the synchronous form of `advance(by:)`, where the air calls the main actor on the main thread.
final class LaunchXCTests: XCTestCase {
    func testLaunchByEvent() {
        for controlsTime in [false, true] {
            let air = SimulatedAir(controlsTime: controlsTime)
            let log = Locked<[String]>([])
            MainActor.assumeIsolated { _ = air.device.launch { Visitor(log) } }
            air.advance(by: .seconds(40))
            air.device.end(by: .system)
            air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(1)))
            air.advance(by: .seconds(2))
            XCTAssertEqual(log.withLock { $0 }, ["launch", "launch", "enter"])
            XCTAssertEqual(air.device.appState, .background)
            air.advance(by: .seconds(30))
            XCTAssertEqual(air.device.appState, .suspended)
        }
    }
}
