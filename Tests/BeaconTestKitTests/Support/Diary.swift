import BeaconTestKit
import CoreLocation
import Foundation

/// A delegate that records its callbacks, each with its second.
final class Diary: NSObject, CLLocationManagerDelegate {
    let manager: CLLocationManager
    private(set) var entries: [String] = []
    private let air: SimulatedAir
    private let start: Date

    /// Additional actions for some callbacks.
    var onEnter: ((CLRegion) -> Void)?
    var onState: ((CLRegionState, CLRegion) -> Void)?
    var onRange: (([CLBeacon]) -> Void)?

    /// The newest beacons, and all reported beacons by second.
    private(set) var beacons: [CLBeacon] = []
    private(set) var history: [(second: Double, beacons: [CLBeacon])] = []
    private(set) var errors: [any Error] = []

    init(_ air: SimulatedAir, on device: SimulatedDevice? = nil) {
        self.air = air
        start = air.now
        manager = (device ?? air.device).run { CLLocationManager() }
        super.init()
        manager.delegate = self
    }

    private var second: Double { (air.now.timeIntervalSince(start) * 10).rounded() / 10 }

    private func note(_ text: String) { entries.append("\(second) \(text)") }

    /// The entries since the last call.
    func take() -> [String] {
        defer { entries = [] }
        return entries
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        note("authorization \(manager.authorizationStatus.rawValue)")
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        note("started \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        note("\(region.identifier) \(state)")
        onState?(state, region)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        note("enter \(region.identifier)")
        onEnter?(region)
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        note("exit \(region.identifier)")
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        note("failed \(region?.identifier ?? "-") \((error as? CLError)?.code.rawValue ?? -1)")
        errors.append(error)
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        note("ranged \(beacons.map { "\($0.minor)" })")
        keep(beacons)
    }

    func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion) {
        note("ranged in \(region.identifier) \(beacons.map { "\($0.minor)" })")
        keep(beacons)
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
    ) {
        note("ranging failed \((error as? CLError)?.code.rawValue ?? -1)")
        errors.append(error)
    }

    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
    ) {
        note("ranging in \(region.identifier) failed \((error as? CLError)?.code.rawValue ?? -1)")
        errors.append(error)
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        note("error \((error as? CLError)?.code.rawValue ?? -1)")
    }

    private func keep(_ beacons: [CLBeacon]) {
        self.beacons = beacons
        history.append((second, beacons))
        onRange?(beacons)
    }
}

/// The UUID for tests in which the UUID does not matter.
let museum = UUID(
    uuid: (0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0))

extension SimulatedBeacon {
    /// Returns a beacon of the museum at a distance from the device, in meters.
    static func exhibit(_ minor: UInt16, major: UInt16 = 1, at meters: Double) -> SimulatedBeacon {
        SimulatedBeacon(uuid: museum, major: major, minor: minor, at: .distance(meters))
    }
}
