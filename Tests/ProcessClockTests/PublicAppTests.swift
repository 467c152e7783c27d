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
