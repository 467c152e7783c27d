import CoreLocation

/// Describes the exhibit in front of a visitor.
///
/// The museum's beacons share a UUID. The major value is the room, the minor value the exhibit in it.
class MuseumGuide: NSObject, CLLocationManagerDelegate {
    /// An exhibit, identified by its beacon.
    struct Exhibit: Hashable {
        let room: CLBeaconMajorValue
        let number: CLBeaconMinorValue
    }

    // swift-format-ignore: NeverForceUnwrap
    private let region = CLBeaconRegion(
        uuid: UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!, identifier: "museum")

    private let texts = [
        Exhibit(room: 1, number: 1): "Amber with a mosquito, 44 million years old",
        Exhibit(room: 1, number: 2): "An astrolabe from Toledo, 1067",
        Exhibit(room: 2, number: 1): "A globe that does not know of Australia, 1592",
        Exhibit(room: 2, number: 2): "A loom that reads punched cards, 1805",
        Exhibit(room: 3, number: 1): "An organ with 312 pipes, 1741",
        Exhibit(room: 3, number: 2): "A meteorite of iron, found by a ploughman",
    ]

    private let locationManager = CLLocationManager()

    /// The exhibit whose text the visitor sees.
    private var shown: Exhibit?

    override init() {
        super.init()
        locationManager.delegate = self
    }

    // MARK: - Permission

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined:
            // Always, so that the system can start the app when its owner arrives at the museum.
            manager.requestAlwaysAuthorization()
        case .authorizedAlways, .authorizedWhenInUse:
            guard CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self) else {
                print("This device cannot hear beacons.")
                return
            }
            manager.startMonitoring(for: region)
        default:
            print("Without permission there is no guide.")
        }
    }

    // MARK: - Entry and exit

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // If the region is known from an earlier launch, there is no event while the device stays inside.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        startGuiding()
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        // There is no entry if the device was inside when monitoring began.
        if state == .inside { startGuiding() }
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        manager.stopRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
        dismissExhibit()
        print("Goodbye.")
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        print("The museum cannot be monitored: \(error.localizedDescription)")
    }

    private func startGuiding() {
        let constraint = region.beaconIdentityConstraint
        guard CLLocationManager.isRangingAvailable(), !locationManager.rangedBeaconConstraints.contains(constraint)
        else { return }
        print("Welcome to the museum.")
        locationManager.startRangingBeacons(satisfying: constraint)
    }

    // MARK: - Exhibits

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard let nearest = beacons.first else { return dismissExhibit() }
        switch nearest.proximity {
        case .immediate, .near:
            show(Exhibit(room: nearest.major.uint16Value, number: nearest.minor.uint16Value))
        default:
            dismissExhibit()
        }
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        dismissExhibit()
        print("The exhibits cannot be found: \(error.localizedDescription)")
    }

    private func show(_ exhibit: Exhibit) {
        guard exhibit != shown else { return }
        shown = exhibit
        print("Room \(exhibit.room): \(texts[exhibit] ?? "an exhibit that is new here")")
    }

    private func dismissExhibit() {
        guard shown != nil else { return }
        shown = nil
        print("…")
    }
}
