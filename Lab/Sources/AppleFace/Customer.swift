import CoreLocation

/// An app that monitors a region and ranges its beacons, written as for iOS. It prints each call of its delegate.
final class Customer: NSObject, CLLocationManagerDelegate {
    private let locationManager = CLLocationManager()
    private let region: CLBeaconRegion

    init(_ region: CLBeaconRegion) {
        self.region = region
        super.init()
        locationManager.delegate = self
        locationManager.requestAlwaysAuthorization()
        locationManager.startMonitoring(for: region)
        locationManager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        Output.line("entered \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        Output.line("exited \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        Output.line("state \(state.rawValue) of \(region.identifier)")
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let list = beacons.map { "\($0.major)/\($0.minor) proximity \($0.proximity.rawValue) rssi \($0.rssi)" }
        Output.line("ranged \(list.joined(separator: ", "))")
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        Output.line("failed \(error)")
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        Output.line("ranging failed \(error)")
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        Output.line("monitoring failed \(error)")
    }
}
