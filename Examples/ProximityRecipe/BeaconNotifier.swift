import CoreLocation
import KumulosSDK

/// Notifies Kumulos when a beacon has come close.
///
/// Keep an instance for as long as the app lives.
class BeaconNotifier: NSObject, CLLocationManagerDelegate {
    /// A beacon without the values that change every second.
    private struct Identity: Hashable {
        let major: NSNumber
        let minor: NSNumber

        init(_ beacon: CLBeacon) {
            major = beacon.major
            minor = beacon.minor
        }
    }

    private let locationManager = CLLocationManager()
    private let region: CLBeaconRegion

    /// The proximity of each beacon a second ago.
    private var previous: [Identity: CLProximity] = [:]

    init(organisation: UUID) {
        region = CLBeaconRegion(uuid: organisation, identifier: "our-beacons")
        super.init()
        locationManager.delegate = self
        locationManager.requestAlwaysAuthorization()
        locationManager.startMonitoring(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // If the region is known from an earlier launch, there is no event while the device stays inside.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        manager.startRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        // An app that starts among beacons gets no entry, so it uses the state.
        if state == .inside { manager.startRangingBeacons(satisfying: self.region.beaconIdentityConstraint) }
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        manager.stopRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
        previous = [:]
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        // A message per second and beacon would drain the battery, and a backend could not distinguish an arrival from
        // a stay. So the app sends one message when a beacon becomes near, and one when it becomes immediate.
        var current: [Identity: CLProximity] = [:]
        for beacon in beacons {
            let identity = Identity(beacon)
            // A phone that changed its address is listed twice for some seconds, the nearer one first.
            guard current[identity] == nil else { continue }
            current[identity] = beacon.proximity
            let isClose = beacon.proximity == .immediate || beacon.proximity == .near
            if isClose, previous[identity] != beacon.proximity { Kumulos.sendiBeaconProximity(beacon: beacon) }
        }
        previous = current
    }
}
