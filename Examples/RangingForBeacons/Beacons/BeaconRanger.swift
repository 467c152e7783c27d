import CoreLocation

/// Ranges the beacons of any number of UUIDs, and sorts them into sections from immediate to unknown.
class BeaconRanger: NSObject, CLLocationManagerDelegate {
    /// The beacons of one proximity, nearest first.
    struct Section {
        var proximity: CLProximity
        var beacons: [CLBeacon]
    }

    private let locationManager = CLLocationManager()

    /// The latest beacons of each constraint.
    private var beaconConstraints: [CLBeaconIdentityConstraint: [CLBeacon]] = [:]

    /// The UUIDs to look for, in the order in which the user added them, and the state of each.
    private(set) var uuids: [UUID] = []
    private(set) var states: [UUID: CLRegionState] = [:]

    /// The latest problem, in words; nil without one.
    private(set) var problem: String?

    /// Called when something has changed.
    private let didChange: () -> Void

    init(didChange: @escaping () -> Void) {
        self.didChange = didChange
        super.init()
        locationManager.delegate = self
    }

    /// The permission to look for beacons.
    var authorization: CLAuthorizationStatus { locationManager.authorizationStatus }

    /// Asks for permission.
    func requestAuthorization() { locationManager.requestWhenInUseAuthorization() }

    /// Starts to look for beacons of a UUID.
    func add(_ uuid: UUID) {
        guard !uuids.contains(uuid) else { return }
        uuids.append(uuid)
        requestAuthorization()
        let constraint = CLBeaconIdentityConstraint(uuid: uuid)
        beaconConstraints[constraint] = []
        // Ranging costs much more than monitoring, so it waits until a beacon is there.
        locationManager.startMonitoring(
            for: CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: uuid.uuidString))
    }

    /// Stops looking for beacons of a UUID.
    func remove(_ uuid: UUID) {
        uuids.removeAll { $0 == uuid }
        states[uuid] = nil
        let constraint = CLBeaconIdentityConstraint(uuid: uuid)
        beaconConstraints[constraint] = nil
        locationManager.stopRangingBeacons(satisfying: constraint)
        for region in locationManager.monitoredRegions where region.identifier == uuid.uuidString {
            locationManager.stopMonitoring(for: region)
        }
        didChange()
    }

    /// Stops everything, including the monitoring of earlier launches, which the system continues.
    func leave() {
        for region in locationManager.monitoredRegions { locationManager.stopMonitoring(for: region) }
        for constraint in beaconConstraints.keys { locationManager.stopRangingBeacons(satisfying: constraint) }
        beaconConstraints = [:]
        uuids = []
        states = [:]
        problem = nil
    }

    /// The sections, nearest first, including empty ones.
    var sections: [Section] {
        let beacons = Dictionary(grouping: beaconConstraints.values.joined(), by: \.proximity)
        return [CLProximity.immediate, .near, .far, .unknown].map { proximity in
            Section(
                proximity: proximity,
                beacons: (beacons[proximity] ?? []).sorted {
                    ($0.accuracy, $0.major.intValue, $0.minor.intValue)
                        < ($1.accuracy, $1.major.intValue, $1.minor.intValue)
                })
        }
    }

    // MARK: - CLLocationManagerDelegate

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .denied, .restricted: problem = "Without permission no beacon can be found."
        default: problem = nil
        }
        didChange()
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // If the region is known from an earlier launch, there is no event while the device stays inside.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        guard let region = region as? CLBeaconRegion, uuids.contains(region.uuid) else { return }
        let constraint = region.beaconIdentityConstraint
        states[region.uuid] = state
        if state == .inside {
            manager.startRangingBeacons(satisfying: constraint)
        } else {
            manager.stopRangingBeacons(satisfying: constraint)
            beaconConstraints[constraint] = []
        }
        didChange()
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        // The last report may arrive after the search has ended.
        guard uuids.contains(beaconConstraint.uuid) else { return }
        problem = nil
        beaconConstraints[beaconConstraint] = beacons
        didChange()
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        problem = "\(region?.identifier ?? "A region") cannot be monitored: \(error.localizedDescription)"
        didChange()
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        problem = "\(beaconConstraint.uuid) cannot be ranged: \(error.localizedDescription)"
        beaconConstraints[beaconConstraint] = []
        didChange()
    }
}

extension CLProximity {
    /// The title of its section.
    var title: String {
        switch self {
        case .immediate: "Immediate"
        case .near: "Near"
        case .far: "Far"
        default: "Unknown"
        }
    }
}
