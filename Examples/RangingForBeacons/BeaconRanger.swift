import CoreLocation

/// Ranges the beacons of any number of UUIDs, and shows them in sections from immediate to unknown.
class BeaconRanger: NSObject, CLLocationManagerDelegate {
    private let locationManager = CLLocationManager()

    /// What was found last for each constraint.
    private var beaconConstraints: [CLBeaconIdentityConstraint: [CLBeacon]] = [:]

    /// All that was found last, by section.
    private var beacons: [CLProximity: [CLBeacon]] = [:]

    /// Shows the sections, whenever they change.
    private let display: (String) -> Void
    private var displayed = ""

    init(display: @escaping (String) -> Void) {
        self.display = display
        super.init()
        locationManager.delegate = self
    }

    /// Begins to look for beacons of a UUID.
    func add(_ uuid: UUID) {
        locationManager.requestWhenInUseAuthorization()
        let constraint = CLBeaconIdentityConstraint(uuid: uuid)
        beaconConstraints[constraint] = []
        // Ranging costs much more than monitoring, so it waits until there is something to range.
        locationManager.startMonitoring(
            for: CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: uuid.uuidString))
    }

    /// Stops all that was begun, that of earlier launches too, which the system goes on with.
    func leave() {
        for region in locationManager.monitoredRegions { locationManager.stopMonitoring(for: region) }
        for constraint in beaconConstraints.keys { locationManager.stopRangingBeacons(satisfying: constraint) }
    }

    // MARK: - CLLocationManagerDelegate

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        // The region may be known from an earlier launch, and then nothing changes by being in it still.
        manager.requestState(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        guard let region = region as? CLBeaconRegion else { return }
        let constraint = region.beaconIdentityConstraint
        if state == .inside {
            manager.startRangingBeacons(satisfying: constraint)
        } else {
            manager.stopRangingBeacons(satisfying: constraint)
            update([], for: constraint)
        }
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        update(beacons, for: beaconConstraint)
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        display("\(region?.identifier ?? "A region") cannot be monitored: \(error.localizedDescription)")
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        display("\(beaconConstraint.uuid) cannot be ranged: \(error.localizedDescription)")
    }

    // MARK: - Sections

    private func update(_ found: [CLBeacon], for constraint: CLBeaconIdentityConstraint) {
        beaconConstraints[constraint] = found
        beacons = Dictionary(grouping: beaconConstraints.values.joined(), by: \.proximity)
        let text = [CLProximity.immediate, .near, .far, .unknown].compactMap(section).joined(separator: "\n")
        guard text != displayed else { return }
        displayed = text
        display(text.isEmpty ? "No beacons" : text)
    }

    private func section(_ proximity: CLProximity) -> String? {
        guard let beacons = beacons[proximity], !beacons.isEmpty else { return nil }
        let rows = beacons.map { "  \($0.uuid)  major \($0.major)  minor \($0.minor)" }
        return ([title(of: proximity)] + rows.sorted()).joined(separator: "\n")
    }

    private func title(of proximity: CLProximity) -> String {
        switch proximity {
        case .immediate: "Immediate"
        case .near: "Near"
        case .far: "Far"
        default: "Unknown"
        }
    }
}
