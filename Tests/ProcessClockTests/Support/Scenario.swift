import BeaconTestKit
import CoreLocation
import Testing

/// A visit with an app after a public one, and what the app does.
struct Scenario: Sendable, CustomTestStringConvertible {
    /// A part of the visit: an action, and the seconds after it.
    typealias Part = (action: @Sendable (SimulatedAir) -> Void, seconds: Int)

    /// The repository and the file of the public app.
    let source: String
    let app: BeaconApp.Type
    let parts: [Part]
    let expected: [String]

    var testDescription: String { source }

    static let waits: @Sendable (SimulatedAir) -> Void = { _ in }
    static let beaconComes: @Sendable (SimulatedAir) -> Void = {
        $0.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(1)))
    }

    static let all = [
        Scenario(
            source: "Bearound/bearound-ios-sdk BearoundSDK/BeaconManager.swift", app: ExitConfirmation.self,
            parts: [(waits, 40), (briefVisit, 60)],
            expected: ["40.1 enter", "80.0 exit?", "92.0 exit"]),
        Scenario(
            source: "Bearound/bearound-ios-sdk BeAroundScan/BeAroundScan/BeaconViewModel.swift", app: Ticker.self,
            parts: [(waits, 5)], expected: (1...5).map { "\($0).0 tick" }),
        Scenario(
            source: "Bearound/bearound-ios-sdk BearoundSDK/BearoundSDK.swift", app: Uploader.self,
            parts: [(beaconComes, 17)], expected: ["1.0 upload", "6.0 upload", "11.0 upload", "16.0 upload"]),
        Scenario(
            source: "Reishandy/SwiftUI-YouriBeaconSimulator YouriBeaconSimulator/Core/Services/"
                + "BackgroundMonitorService.swift",
            app: BriefRanging.self, parts: [(waits, 40), (beaconComes, 20)],
            expected: ["40.1 enter", "41.0 ranged 1", "42.0 ranged 1", "43.0 ranged 1", "43.1 stop"]),
        Scenario(
            source: "Reishandy/SwiftUI-YouriBeaconSimulator YouriBeaconSimulator/Core/Services/"
                + "BeaconDiscoveryService.swift",
            app: StaleBeacons.self, parts: [(briefVisit, 30)], expected: ["1.0 seen", "14.0 stale"]),
        Scenario(
            source: "davidgyoung/OverflowAreaBeaconRef OverflowAreaBeaconRef/OverflowArea/FusedBeaconManager.swift",
            app: Reminder.self, parts: [(waits, 100)],
            expected: ["30.0 reminder", "60.0 reminder", "90.0 reminder"]),
        Scenario(
            source: "zoyi/sdk-ibeacon-ios ZBeaconKit/Manager.swift", app: RetryingStart.self,
            parts: [(waits, 50), (beaconComes, 5)],
            expected: ["0.0 attempt 1", "5.0 attempt 2", "10.0 attempt 3", "50.1 enter"]),
        Scenario(
            source: "malcommac/SwiftLocation Sources/SwiftLocation/Async Tasks/SingleUpdateLocation.swift",
            app: SingleReport.self, parts: [(waits, 11), (beaconComes, 5)],
            expected: ["8.0 timed out", "12.0 found 1"]),
        Scenario(
            source: "SagarSDagdu/SDBeaconScanner Sources/SDBeaconScanner/SDBeaconScanner.swift", app: TimedScan.self,
            parts: [(waits, 20)], expected: ["10.0 nothing found"]),
        Scenario(
            source: "ericg-xcode-questions/Compass Compass/Location.swift", app: DebouncedProximity.self,
            parts: [(beaconComes, 8)], expected: ["3.0 proximity 2"]),
    ]

    /// A beacon that leaves by itself after ten seconds of the app's own clock.
    static let briefVisit: @Sendable (SimulatedAir) -> Void = { air in
        let beacon = air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(1)))
        DispatchQueue.global().asyncAfter(deadline: .now() + 10) { beacon.remove() }
    }
}
