internal import BeaconEngine
internal import BeaconModel
internal import BeaconRadio
internal import BeaconService
import Foundation

/// Starts and stops the delivery of beacon events to an app.
///
/// Region monitoring and ranging of beacons work as Core Location's documents describe, over the radio that `BEACON_SOURCE`
/// names. Positions, headings and visits need hardware that is not there: whoever asks for them is told so, and none is
/// made up.
///
/// Callbacks come where the manager was made: on the main queue for the main thread, on the run loop of a thread that was
/// started by itself. On a thread of a pool there is no run loop that anybody runs, so that the main queue is used, and it
/// is logged.
open class CLLocationManager: NSObject {
    /// The object that is told of events. It is not kept alive.
    open weak var delegate: (any CLLocationManagerDelegate)?

    private let core: LocationManagerCore

    /// A manager that has nothing to do yet. Its delegate is told the authorization once, soon after.
    public override init() {
        core = LocationManagerCore(
            center: .current, context: CallbackContext.ofCurrentThread(for: "A CLLocationManager"))
        super.init()
        let reference = WeakManager(manager: self)
        core.begin { event in reference.manager?.handle(event) }
    }

    // MARK: - Availability

    /// Whether location services are switched on; there is no switch here, so that they always are.
    open class func locationServicesEnabled() -> Bool { true }

    /// Whether regions of a class can be monitored: those of `CLBeaconRegion`, unless the machine has no radio. It says
    /// nothing about permission.
    open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
        regionClass is CLBeaconRegion.Type && hasRadio
    }

    /// Whether beacons can be ranged: unless the machine has no radio. It says nothing about permission.
    open class func isRangingAvailable() -> Bool { hasRadio }

    private static var hasRadio: Bool { BeaconCenter.current.snapshot.radio != .unsupported }

    /// Whether large changes of position can be noticed; they cannot.
    open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

    /// Whether there is a compass; there is none.
    open class func headingAvailable() -> Bool { false }

    /// Whether any region can be monitored.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringAvailable() -> Bool { hasRadio }

    /// Whether monitoring regions is switched on.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringEnabled() -> Bool { hasRadio }

    /// Whether positions can be collected for later; they cannot.
    open class func deferredLocationUpdatesAvailable() -> Bool { false }

    // MARK: - Authorization

    /// What the application may know.
    open class func authorizationStatus() -> CLAuthorizationStatus {
        CLAuthorizationStatus(BeaconCenter.current.snapshot.authorization)
    }

    /// What the application may know.
    open var authorizationStatus: CLAuthorizationStatus { CLAuthorizationStatus(core.center.snapshot.authorization) }

    /// How exactly the application may know; distances to beacons are never blurred.
    open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

    /// Whether widgets of the application may know; there are none.
    open var isAuthorizedForWidgetUpdates: Bool { false }

    /// Asks to know of beacons while the application runs. It is granted unless an administrator decided otherwise, and does
    /// nothing where the status is determined already.
    open func requestWhenInUseAuthorization() { core.request(.whenInUse) }

    /// Asks to know of beacons, and to be started for them. It is granted unless an administrator decided otherwise.
    open func requestAlwaysAuthorization() { core.request(.always) }

    /// Asks for full accuracy for a while, which is always given.
    open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
    ) {
        completion?(nil)
    }

    /// Asks for full accuracy for a while, which is always given.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) async throws {}

    // MARK: - Monitoring

    /// Begins to monitor a region, for the whole application and across its launches.
    ///
    /// `didStartMonitoringFor` follows, and then `didDetermineState` once the state is known. A region of the same identifier
    /// is replaced. Beyond 20 regions, and for regions that are not of beacons, `monitoringDidFailFor` follows with
    /// `CLError.regionMonitoringFailure`.
    open func startMonitoring(for region: CLRegion) {
        guard let beacons = region as? CLBeaconRegion else {
            let sent = SentRegion(region)
            return later { manager in
                manager.delegate?.locationManager(
                    manager, monitoringDidFailFor: sent.region, withError: CLError(.regionMonitoringFailure))
            }
        }
        core.startMonitoring(RegisteredRegion(beacons))
    }

    /// Begins to monitor a region; the accuracy says nothing for beacons.
    @available(*, deprecated, renamed: "startMonitoring(for:)")
    open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
        startMonitoring(for: region)
    }

    /// Stops monitoring the region of this identifier, whoever began; harmless where nobody did.
    open func stopMonitoring(for region: CLRegion) { core.stopMonitoring(region.identifier) }

    /// Asks for the state of a region that is monitored; `didDetermineState` tells it.
    open func requestState(for region: CLRegion) { core.requestState(of: region.identifier) }

    /// The regions that the application monitors, those of earlier launches too. The objects may be others than those that
    /// were given, and a change shows a little later.
    open var monitoredRegions: Set<CLRegion> {
        Set(core.center.snapshot.regions.map { CLBeaconRegion($0) })
    }

    /// The largest circular region that could be monitored; none can.
    open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

    // MARK: - Ranging

    /// Begins to range the beacons that satisfy a constraint: `didRange:satisfying:` tells them once a second, or
    /// `didFailRangingFor:error:` why not. Doing so twice is the same as once.
    open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        core.startRanging(BeaconConstraint(constraint))
    }

    /// Stops ranging the beacons that satisfy an equal constraint.
    open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        core.stopRanging(BeaconConstraint(constraint))
    }

    /// The constraints that this manager ranges.
    open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
        Set(core.rangedConstraints.map { CLBeaconIdentityConstraint($0) })
    }

    /// Begins to range the beacons of a region: `didRangeBeacons:in:` tells them once a second, or
    /// `rangingBeaconsDidFailFor:withError:` why not.
    open func startRangingBeacons(in region: CLBeaconRegion) {
        core.startRanging(LocationManagerCore.RangedRegion(region))
    }

    /// Stops ranging the beacons of an equal region.
    open func stopRangingBeacons(in region: CLBeaconRegion) {
        core.stopRanging(LocationManagerCore.RangedRegion(region))
    }

    /// The regions that this manager ranges.
    open var rangedRegions: Set<CLRegion> { Set(core.rangedRegions.map { CLBeaconRegion($0) }) }

    // MARK: - Positions, which are not there

    /// How exact positions should be.
    open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest

    /// How far one has to move for another position.
    open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone

    /// How the device is expected to move.
    open var activityType = CLActivityType.other

    /// Whether positions may pause.
    open var pausesLocationUpdatesAutomatically = true

    /// Whether the application goes on in the background, which every process here does.
    open var allowsBackgroundLocationUpdates = false

    /// Whether the use of positions in the background is shown.
    open var showsBackgroundLocationIndicator = false

    /// How far one has to turn for another heading, in degrees.
    open var headingFilter: CLLocationDegrees = 1

    /// How the device is held.
    open var headingOrientation = CLDeviceOrientation.portrait

    /// The last position; there is none.
    open var location: CLLocation? { nil }

    /// The last heading; there is none.
    open var heading: CLHeading? { nil }

    /// Asks for positions; `didFailWithError` follows with `CLError.locationUnknown`.
    open func startUpdatingLocation() { failPosition(.locationUnknown) }

    /// Stops asking for positions.
    open func stopUpdatingLocation() {}

    /// Asks for one position; `didFailWithError` follows with `CLError.locationUnknown`.
    open func requestLocation() { failPosition(.locationUnknown) }

    /// Asks for large changes of position; `didFailWithError` follows with `CLError.locationUnknown`.
    open func startMonitoringSignificantLocationChanges() { failPosition(.locationUnknown) }

    /// Stops asking for large changes of position.
    open func stopMonitoringSignificantLocationChanges() {}

    /// Asks for visits; `didFailWithError` follows with `CLError.locationUnknown`.
    open func startMonitoringVisits() { failPosition(.locationUnknown) }

    /// Stops asking for visits.
    open func stopMonitoringVisits() {}

    /// Asks for headings; `didFailWithError` follows with `CLError.headingFailure`.
    open func startUpdatingHeading() { failPosition(.headingFailure) }

    /// Stops asking for headings.
    open func stopUpdatingHeading() {}

    /// Puts the question of calibrating the compass away; it is never asked.
    open func dismissHeadingCalibrationDisplay() {}

    private func failPosition(_ code: CLError.Code) {
        later { $0.delegate?.locationManager($0, didFailWithError: CLError(code)) }
    }

    /// Makes a call where callbacks are made, after those that are under way.
    private func later(_ call: @escaping @Sendable (CLLocationManager) -> Void) {
        let reference = WeakManager(manager: self)
        core.makeCallback {
            if let manager = reference.manager { call(manager) }
        }
    }

    // MARK: - Callbacks

    private func handle(_ event: ClientEvent) {
        switch event {
        case .authorization:
            delegate?.locationManagerDidChangeAuthorization(self)
        case .started(let region):
            delegate?.locationManager(self, didStartMonitoringFor: CLBeaconRegion(region))
        case .monitoringFailed(let region, let failure):
            delegate?.locationManager(
                self, monitoringDidFailFor: CLBeaconRegion(region),
                withError: CLError(failure == .denied ? .regionMonitoringDenied : .regionMonitoringFailure))
        case .determined(let region):
            delegate?.locationManager(
                self, didDetermineState: CLRegionState(region.state), for: CLBeaconRegion(region))
        case .entered(let region):
            delegate?.locationManager(self, didEnterRegion: CLBeaconRegion(region))
        case .exited(let region):
            delegate?.locationManager(self, didExitRegion: CLBeaconRegion(region))
        case .ranged(let constraint, let beacons, _):
            deliver(
                beacons.map { CLBeacon($0, timestamp: Date(timeIntervalSince1970: $0.lastHeard.seconds)) }, constraint)
        case .rangingFailed(let constraint, let failure):
            fail(constraint, CLError(failure == .denied ? .denied : .rangingUnavailable))
        case .radio, .advertising, .watched:
            break
        }
    }

    private func deliver(_ beacons: [CLBeacon], _ constraint: BeaconConstraint) {
        let rangings = core.rangings(of: constraint)
        if rangings.asConstraint {
            delegate?.locationManager(self, didRange: beacons, satisfying: CLBeaconIdentityConstraint(constraint))
        }
        for region in rangings.regions {
            delegate?.locationManager(self, didRangeBeacons: beacons, in: CLBeaconRegion(region))
        }
    }

    private func fail(_ constraint: BeaconConstraint, _ error: CLError) {
        let rangings = core.rangings(of: constraint)
        if rangings.asConstraint {
            delegate?.locationManager(self, didFailRangingFor: CLBeaconIdentityConstraint(constraint), error: error)
        }
        for region in rangings.regions {
            delegate?.locationManager(self, rangingBeaconsDidFailFor: CLBeaconRegion(region), withError: error)
        }
    }
}
