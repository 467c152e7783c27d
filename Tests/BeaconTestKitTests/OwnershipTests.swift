import BeaconTestKit
import CoreLocation
import Dispatch
import Foundation
import Testing

/// An app's object that outlives tests and launches.
@MainActor
private final class Guide: NSObject, @MainActor CLLocationManagerDelegate {
    static let shared = Guide()
    static let other = Guide()
    let manager = CLLocationManager()
    private(set) var entries: [String] = []

    override init() {
        super.init()
        manager.delegate = self
    }

    func start() { manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) }

    func take() -> [String] {
        defer { entries = [] }
        return entries
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        entries.append("authorization \(manager.authorizationStatus.rawValue)")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        entries.append("\(state)")
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { entries.append("enter") }
}

@Suite("Managers and the devices that they belong to")
@MainActor
struct OwnershipTests {
    @Test("A singleton's manager moves to the device that uses it, once its own air is gone")
    func singleton() async {
        for status in [CLAuthorizationStatus.authorizedAlways, .authorizedWhenInUse, .authorizedAlways] {
            let air = SimulatedAir(authorization: status)
            air.device.run { Guide.shared.start() }
            await air.advance(by: .seconds(31))
            #expect(Guide.shared.take() == ["authorization \(status.rawValue)", "outside"])
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            #expect(Guide.shared.take() == ["inside", "enter"])
        }
    }

    @Test("A singleton's manager moves to the next launch of its app")
    func launches() async {
        let air = SimulatedAir()
        air.device.launch { Guide.other.start() }
        await air.advance(by: .seconds(31))
        #expect(Guide.other.take() == ["authorization 3", "outside"])
        air.device.end(by: .system)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(Guide.other.take() == ["authorization 3", "inside", "enter"])
    }

    @Test("While its air exists, a manager stays there, and the log names the air")
    func foreign() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let first = SimulatedAir(fileID: "Museum/First.swift", line: 7)
            let second = SimulatedAir()
            let manager = first.device.run { CLLocationManager() }
            second.device.run { manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) }
            await first.settle()
            #expect(first.device.run { manager.monitoredRegions.count } == 1)
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(log.contains("keeps belonging to it"))
        #expect(log.contains("Museum/First.swift:7"))
    }

    @Test("A manager that leaves the closure of run is logged with its cause and the remedy")
    func outside() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let air = SimulatedAir()
            air.device.run { DispatchQueue.main.async { _ = CLLocationManager() } }
            await air.settle()
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(log.contains("a CLLocationManager belongs to no device of a simulated air"))
        #expect(log.contains("use Task there instead"))
    }

    @Test("A manager of a device, and one of a task in run, are not logged")
    func inside() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let air = SimulatedAir()
            air.device.run {
                _ = CLLocationManager()
                Task { _ = CLLocationManager() }
            }
            await air.settle()
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!log.contains("belongs to no device"))
    }
}
