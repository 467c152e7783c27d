import CoreLocation

/// Welcomes customers of a chain of department stores, and shows the sale in their department.
///
/// The beacons of all stores share a UUID. The major value is the store, the minor value the department.
class ShoppingAssistant: NSObject, CLLocationManagerDelegate {
    // swift-format-ignore: NeverForceUnwrap
    private let chain = UUID(uuidString: "02F07E83-ABD6-4243-90A8-3617C9C74E70")!

    private let stores: [CLBeaconMajorValue: String] = [1: "Market Square", 2: "Harbour Street"]
    private let departments: [CLBeaconMinorValue: String] = [1: "perfume", 2: "shoes", 3: "coats", 4: "kitchen"]
    private let sale: [CLBeaconMinorValue: String] = [
        1: "a sample of Neroli for everyone",
        2: "two pairs for the price of one",
        3: "last winter's coats at half the price",
        4: "a pan with each set of knives",
    ]

    private let locationManager = CLLocationManager()

    /// The departments whose sale the customer has seen, by store, since the app may hear two stores at once.
    private var reported: [CLBeaconMajorValue: Set<CLBeaconMinorValue>] = [:]

    override init() {
        super.init()
        locationManager.delegate = self
    }

    // MARK: - Permission

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined:
            manager.requestAlwaysAuthorization()
        case .authorizedAlways, .authorizedWhenInUse:
            // One region per store. An app can have 20 regions, so for a larger chain it would monitor the stores of
            // the customer's town.
            for store in stores.keys.sorted() {
                manager.startMonitoring(for: CLBeaconRegion(uuid: chain, major: store, identifier: "store \(store)"))
            }
        default:
            print("Without permission there is no advice.")
        }
    }

    // MARK: - Stores

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // If the region is known from an earlier launch, there is no event while the device stays inside.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        // Core Location also reports the state with each change, before each entry, so ranging starts only here.
        guard state == .inside, let region = region as? CLBeaconRegion, let store = region.major?.uint16Value,
            !manager.rangedBeaconConstraints.contains(region.beaconIdentityConstraint)
        else { return }
        print("Welcome to \(stores[store] ?? "our new store").")
        manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        guard let region = region as? CLBeaconRegion, let store = region.major?.uint16Value else { return }
        manager.stopRangingBeacons(satisfying: region.beaconIdentityConstraint)
        reported[store] = nil
        print("Thank you for visiting \(stores[store] ?? "our new store").")
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        print("\(region?.identifier ?? "A store") cannot be monitored: \(error.localizedDescription)")
    }

    // MARK: - Departments

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard let store = beaconConstraint.major,
            let nearest = beacons.first(where: { $0.proximity == .immediate || $0.proximity == .near })
        else { return }
        let department = nearest.minor.uint16Value
        // Customers want to see a sale once, not every second and not on their way out.
        guard reported[store, default: []].insert(department).inserted else { return }
        print("  \(departments[department] ?? "department \(department)"): \(sale[department] ?? "something new")")
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        print("The departments cannot be found: \(error.localizedDescription)")
    }
}
