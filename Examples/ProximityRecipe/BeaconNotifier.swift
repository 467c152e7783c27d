import CoreLocation
import KumulosSDK

/// Tells Kumulos when a beacon has come close.
///
/// Hold one for as long as the app lives.
class BeaconNotifier: NSObject, CLLocationManagerDelegate {
    /// A beacon without what changes from second to second.
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

    /// How near each beacon was a second ago.
    private var previous: [Identity: CLProximity] = [:]

    init(organisation: UUID) {
        region = CLBeaconRegion(uuid: organisation, identifier: "our-beacons")
        super.init()
        locationManager.delegate = self
        locationManager.requestAlwaysAuthorization()
        locationManager.startMonitoring(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // The region may be known from an earlier launch, and then nothing changes by being in it still.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        manager.startRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        // An app that is started among beacons does not enter, so that the state has to do.
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
        // A message each second and beacon would empty the battery, and a backend could not tell an arrival from a
        // stay. So: once when a beacon becomes near, and once more when it becomes immediate.
        var current: [Identity: CLProximity] = [:]
        for beacon in beacons {
            let identity = Identity(beacon)
            // A phone that changed its address is there twice for some seconds, the nearer one first.
            guard current[identity] == nil else { continue }
            current[identity] = beacon.proximity
            let isClose = beacon.proximity == .immediate || beacon.proximity == .near
            if isClose, previous[identity] != beacon.proximity { Kumulos.sendiBeaconProximity(beacon: beacon) }
        }
        previous = current
    }
}
