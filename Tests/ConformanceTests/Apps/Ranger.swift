import CoreLocation

/// An app that ranges from the arrival to the exit, for other sample apps to build on.
class Ranger: NSObject, CLLocationManagerDelegate {
    let manager = CLLocationManager()
    let outlet: Outlet
    let isFixed: Bool

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        switch state {
        case .inside: manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        case .outside: leave()
        default: break
        }
    }

    func leave() { manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint) }

    private var lastGoodbye = Date.distantPast

    /// Says goodbye.
    func goodbye(_ text: String) {
        lastGoodbye = Date()
        outlet.notify(text)
    }

    /// Welcomes the visitor, but not after a loss of the signal.
    func welcome(_ text: String) {
        if !isFixed || Date().timeIntervalSince(lastGoodbye) > 60 { outlet.notify(text) }
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
}
