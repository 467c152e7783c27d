import BeaconTestKit
import CoreBluetooth
import CoreLocation

/// An app of a shop that is right in the foreground, and wrong in the background. Each fault is a statement of Apple's
/// articles or of Kumulos' recipe that the app does not heed.
final class ShopApp: NSObject, CLLocationManagerDelegate, CBPeripheralManagerDelegate {
    // swift-format-ignore: NeverForceUnwrap
    private let till = CLBeaconRegion(
        uuid: UUID(uuidString: "02F07E83-ABD6-4243-90A8-3617C9C74E70")!, major: 1, minor: 1, identifier: "till")
    private let region: CLBeaconRegion
    private let notify: (String) -> Void
    private var locationManager: CLLocationManager?
    private var peripheralManager: CBPeripheralManager?
    private var isWelcome = false

    /// Creates the app.
    ///
    /// - Parameters:
    ///   - hasScreen: false if the system launched the app for an event. Fault: nothing is set up then.
    ///   - notify: notifies the user.
    init(hasScreen: Bool, notify: @escaping (String) -> Void) {
        region = CLBeaconRegion(uuid: till.uuid, major: 2, identifier: "shop")
        self.notify = notify
        super.init()
        guard hasScreen else { return }
        locationManager = CLLocationManager()
        locationManager?.delegate = self
        locationManager?.requestAlwaysAuthorization()
        locationManager?.startMonitoring(for: region)
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    // MARK: - The visitor

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside { manager.startRangingBeacons(satisfying: self.region.beaconIdentityConstraint) }
        if state == .outside {
            manager.stopRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
            isWelcome = false
        }
    }

    /// Fault: the system wakes the app for a few seconds, and a beacon that comes near later is not noticed.
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let isNear = beacons.contains { $0.proximity == .near || $0.proximity == .immediate }
        guard isNear, !isWelcome else { return }
        isWelcome = true
        notify("welcome")
    }

    // MARK: - The till

    /// Fault: in the background, the till is no beacon, and nobody learns it.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising(till.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }
}
