internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
import Foundation

/// Starts and stops the delivery of beacon events to an app.
///
/// Region monitoring and ranging of beacons work as Core Location's documents describe, over the radio that
/// `BEACON_SOURCE` names. Positions, headings and visits need hardware that is not there: asking for them fails, and
/// none is made up.
///
/// Callbacks come where the manager was made: on the main queue for the main thread, on the run loop of a thread that
/// was started by itself. On a thread of a pool there is no run loop that anybody runs, so that the main queue is used,
/// and it is logged.
open class CLLocationManager: NSObject {
    private let core: LocationManagerCore
    private let delegates = DelegateBox<any CLLocationManagerDelegate>(nil)

    /// The object that receives events. It is not kept alive, and may be set on any thread.
    ///
    /// The first callback, of the authorization, waits for a delegate: one that is set late receives it, too.
    open weak var delegate: (any CLLocationManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue) else { return }
            later { manager in
                guard let delegate = manager.delegates.delegateForHeldCallback() else { return }
                delegate.locationManagerDidChangeAuthorization(manager)
                manager.core.requestMissedChanges()
                manager.reportServiceFailures()
            }
        }
    }

    /// Creates a manager that has nothing to do so far. Its delegate receives the authorization once, soon after.
    public override init() {
        core = LocationManagerCore(
            center: .current, context: CallbackContext.ofCurrentThread(for: "A CLLocationManager"))
        super.init()
        let reference = WeakReference(self)
        core.begin { event in reference.object?.handle(event) }
    }

    // MARK: - Availability

    /// Returns true: there is no switch for location services here.
    open class func locationServicesEnabled() -> Bool { true }

    /// Returns true for `CLBeaconRegion`, unless it is known that the machine has no radio; false for other regions.
    ///
    /// Before a radio has reported its state, that is not known, and the answer is true. It says nothing about
    /// permission.
    open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
        regionClass is CLBeaconRegion.Type && hasRadio
    }

    /// Returns true, unless it is known that the machine has no radio.
    ///
    /// Before a radio has reported its state, that is not known, and the answer is true. It says nothing about
    /// permission.
    open class func isRangingAvailable() -> Bool { hasRadio }

    private static var hasRadio: Bool { BeaconCenter.current.snapshot.radio != .unsupported }

    /// Returns false: changes of position are not noticed here.
    open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

    /// Returns false: there is no compass here.
    open class func headingAvailable() -> Bool { false }

    /// Returns true, unless it is known that the machine has no radio.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringAvailable() -> Bool { hasRadio }

    /// Returns true, unless it is known that the machine has no radio.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringEnabled() -> Bool { hasRadio }

    /// Returns false: no position can be collected for later.
    open class func deferredLocationUpdatesAvailable() -> Bool { false }

    // MARK: - Authorization

    /// Returns the app's permission to use location services.
    open class func authorizationStatus() -> CLAuthorizationStatus {
        CLAuthorizationStatus(BeaconCenter.current.snapshot.authorization)
    }

    /// The app's permission to use location services.
    open var authorizationStatus: CLAuthorizationStatus { CLAuthorizationStatus(core.center.snapshot.authorization) }

    /// The accuracy that the app is allowed: full, since distances to beacons are never blurred.
    open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

    /// A Boolean value that says that widgets of the app may use location services; there are none.
    open var isAuthorizedForWidgetUpdates: Bool { false }

    /// Asks to know of beacons while the application runs. It is granted unless an administrator decided otherwise, and
    /// does nothing where the status is determined already.
    open func requestWhenInUseAuthorization() { core.request(.whenInUse) }

    /// Asks to know of beacons, and to be started for them. It is granted unless an administrator decided otherwise.
    open func requestAlwaysAuthorization() { core.request(.always) }

    /// Asks for full accuracy for a while, which is always given.
    open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
    ) {
        guard let completion else { return }
        // The app's own closure, which only the callback calls.
        let answer = UnsafeTransfer(completion)
        core.makeCallback { answer.value(nil) }
    }

    /// Asks for full accuracy for a while, which is always given.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {}

    /// Asks for full accuracy for a while, which is always given.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) async throws {}

    // MARK: - Monitoring

    /// Begins to monitor a region, for the whole application and across its launches.
    ///
    /// `didStartMonitoringFor` follows, and then `didDetermineState` once the state is known. A region of the same
    /// identifier is replaced. Beyond 20 regions, and for regions that are not of beacons, `monitoringDidFailFor`
    /// follows with `CLError.regionMonitoringFailure`, or `regionMonitoringDenied` where the app may not monitor any.
    open func startMonitoring(for region: CLRegion) {
        if let beacons = region as? CLBeaconRegion, beacons.isComplete {
            return core.startMonitoring(RegisteredRegion(beacons))
        }
        let copy = region.copy() as? CLRegion ?? region
        refuse(UnavailableRequests.RegionRequest(.monitoring, region)) { manager in
            let isDenied = LocationService.positions.failure(manager.core.center.snapshot.authorization) == .denied
            manager.delegate?.locationManager(
                manager, monitoringDidFailFor: copy,
                withError: CLError(isDenied ? .regionMonitoringDenied : .regionMonitoringFailure))
        }
    }

    /// Begins to monitor a region; the accuracy says nothing for beacons.
    @available(*, deprecated, renamed: "startMonitoring(for:)")
    open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
        startMonitoring(for: region)
    }

    /// Stops monitoring the beacon region of this identifier, whichever manager began; harmless where none did.
    ///
    /// No callback of this manager about the region follows. A region of another kind is another region, also under the
    /// same identifier, and is never monitored.
    open func stopMonitoring(for region: CLRegion) {
        if region is CLBeaconRegion { core.stopMonitoring(region.identifier) }
        core.stop(UnavailableRequests.RegionRequest(.monitoring, region))
    }

    /// Asks for the state of a region; `didDetermineState` delivers it. The state of a region that is not monitored is
    /// unknown. For regions other than beacons and circles nothing happens, as Core Location's document says.
    open func requestState(for region: CLRegion) {
        if let beacons = region as? CLBeaconRegion { return core.requestState(of: RegisteredRegion(beacons)) }
        guard region is CLCircularRegion else { return }
        let copy = region.copy() as? CLRegion ?? region
        later { $0.delegate?.locationManager($0, didDetermineState: .unknown, for: copy) }
    }

    /// The regions that the application monitors, those of earlier launches too. The objects may be others than those
    /// that were given, and a change shows a little later.
    open var monitoredRegions: Set<CLRegion> {
        Set(core.center.snapshot.regions.map { CLBeaconRegion($0) })
    }

    /// The largest circular region that could be monitored; none can.
    open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

    // MARK: - Ranging

    /// Begins to range the beacons that satisfy a constraint: `didRange:satisfying:` reports them once a second, or
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

    /// Begins to range the beacons of a region: `didRangeBeacons:in:` reports them once a second, or
    /// `rangingBeaconsDidFailFor:withError:` why not.
    open func startRangingBeacons(in region: CLBeaconRegion) {
        if region.isComplete { return core.startRanging(LocationManagerCore.RangedRegion(region)) }
        let copy = region.copy() as? CLBeaconRegion ?? region
        refuse(UnavailableRequests.RegionRequest(.ranging, region)) { manager in
            manager.delegate?.locationManager(
                manager, rangingBeaconsDidFailFor: copy, withError: CLError(.rangingFailure))
        }
    }

    /// Stops ranging the beacons of an equal region.
    open func stopRangingBeacons(in region: CLBeaconRegion) {
        core.stopRanging(LocationManagerCore.RangedRegion(region))
        core.stop(UnavailableRequests.RegionRequest(.ranging, region))
    }

    /// The regions that this manager ranges.
    open var rangedRegions: Set<CLRegion> { Set(core.rangedRegions.map { CLBeaconRegion($0) }) }

    // MARK: - Positions, which are not there

    /// The accuracy that positions should have.
    open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest

    /// The distance to move for another position.
    open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone

    /// The movement that the app expects.
    open var activityType = CLActivityType.other

    /// A Boolean value that says that positions may pause.
    open var pausesLocationUpdatesAutomatically = true

    /// A Boolean value that says that the app continues in the background, which every process here does.
    open var allowsBackgroundLocationUpdates = false

    /// A Boolean value that says that the use of positions in the background is shown.
    open var showsBackgroundLocationIndicator = false

    /// The angle to turn for another heading, in degrees.
    open var headingFilter: CLLocationDegrees = 1

    /// The orientation of the device.
    open var headingOrientation = CLDeviceOrientation.portrait

    /// The last position; there is none.
    open var location: CLLocation? { nil }

    /// The last heading; there is none.
    open var heading: CLHeading? { nil }

    /// Asks for positions; `didFailWithError` follows with `CLError.locationUnknown`, or `denied` without permission.
    open func startUpdatingLocation() { start(.positions) }

    /// Stops asking for positions, also for a single one.
    open func stopUpdatingLocation() {
        core.stop(.positions)
        core.stop(.onePosition)
    }

    /// Asks for one position; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func requestLocation() { start(.onePosition) }

    /// Asks for large changes of position; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func startMonitoringSignificantLocationChanges() { start(.significantChanges) }

    /// Stops asking for large changes of position.
    open func stopMonitoringSignificantLocationChanges() { core.stop(.significantChanges) }

    /// Asks for visits; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func startMonitoringVisits() { start(.visits) }

    /// Stops asking for visits.
    open func stopMonitoringVisits() { core.stop(.visits) }

    /// Asks for headings; `didFailWithError` follows with `CLError.headingFailure`.
    open func startUpdatingHeading() { start(.headings) }

    /// Stops asking for headings.
    open func stopUpdatingHeading() { core.stop(.headings) }

    /// Asks for a token for location pushes. There is no push service here: the answer is
    /// `CLLocationPushServiceError.unsupportedPlatform`.
    open func startMonitoringLocationPushes(completion: ((Data?, (any Error)?) -> Void)? = nil) {
        guard let completion else { return }
        // The app's own closure, which only the callback calls.
        let answer = UnsafeTransfer(completion)
        core.makeCallback { answer.value(nil, CLLocationPushServiceError(.unsupportedPlatform)) }
    }

    /// Asks for a token for location pushes. There is no push service here.
    ///
    /// - Throws: `CLLocationPushServiceError.unsupportedPlatform`
    open func startMonitoringLocationPushes() async throws -> Data {
        throw CLLocationPushServiceError(.unsupportedPlatform)
    }

    /// Stops asking for location pushes. There is nothing to stop.
    open func stopMonitoringLocationPushes() {}

    /// Puts the question of calibrating the compass away; it is never asked.
    open func dismissHeadingCalibrationDisplay() {}

    /// Asks for positions to be collected while the app is not in use; `didFinishDeferredUpdatesWithError` follows with
    /// `CLError.deferredFailed`.
    @available(*, deprecated, message: "Positions are not deferred on any system any more.")
    open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
        later { $0.delegate?.locationManager($0, didFinishDeferredUpdatesWithError: CLError(.deferredFailed)) }
    }

    /// Stops collecting positions. There is nothing to stop.
    @available(*, deprecated, message: "Positions are not deferred on any system any more.")
    open func disallowDeferredLocationUpdates() {}

    private func start(_ service: LocationService) {
        core.start(service)
        later { $0.reportServiceFailures() }
    }

    private func reportServiceFailures() {
        for code in core.takeServiceFailures() { delegate?.locationManager(self, didFailWithError: CLError(code)) }
    }

    /// Answers a request about a region that cannot be watched, unless the app stops it before.
    private func refuse(
        _ request: UnavailableRequests.RegionRequest, _ answer: @escaping @Sendable (CLLocationManager) -> Void
    ) {
        core.start(request)
        later { if $0.core.take(request) { answer($0) } }
    }

    /// Makes a call where callbacks are made, after those that are under way.
    private func later(_ call: @escaping @Sendable (CLLocationManager) -> Void) {
        let reference = WeakReference(self)
        core.makeCallback {
            if let manager = reference.object { call(manager) }
        }
    }

    // MARK: - Callbacks

    private func handle(_ event: ClientEvent) {
        switch event {
        case .authorization:
            guard let delegate = delegates.delegateOrHold() else { return }
            delegate.locationManagerDidChangeAuthorization(self)
            // Missed changes are delivered once there is a delegate to receive them.
            core.requestMissedChanges()
            reportServiceFailures()
        case .started(let region):
            delegate?.locationManager(self, didStartMonitoringFor: CLBeaconRegion(region))
        case .monitoringFailed(let region, let failure):
            delegate?.locationManager(
                self, monitoringDidFailFor: CLBeaconRegion(region),
                withError: CLError(failure == .denied ? .regionMonitoringDenied : .regionMonitoringFailure))
        case .determined(let region), .answered(let region):
            delegate?.locationManager(
                self, didDetermineState: CLRegionState(region.state), for: CLBeaconRegion(region))
        case .entered(let region):
            delegate?.locationManager(self, didEnterRegion: CLBeaconRegion(region))
        case .exited(let region):
            delegate?.locationManager(self, didExitRegion: CLBeaconRegion(region))
        case .ranged(let constraint, let beacons, _):
            deliver(
                beacons.map { CLBeacon($0, timestamp: Date(timeIntervalSince1970: $0.lastHeard.seconds)) },
                satisfying: constraint)
        case .rangingFailed(let constraint, let failure, let requester):
            fail(constraint, of: requester, with: CLError(failure == .denied ? .denied : .rangingUnavailable))
        case .missedChangesEnded:
            core.confirmMissedChanges()
        case .radio, .heard, .advertising, .condition:
            break
        }
    }

    private func deliver(_ beacons: [CLBeacon], satisfying constraint: BeaconConstraint) {
        let rangings = core.rangings(of: constraint)
        if rangings.asConstraint {
            delegate?.locationManager(self, didRange: beacons, satisfying: CLBeaconIdentityConstraint(constraint))
        }
        for region in rangings.regions {
            delegate?.locationManager(self, didRangeBeacons: beacons, in: CLBeaconRegion(region))
        }
    }

    /// Reports a failure to the request that it is about.
    private func fail(_ constraint: BeaconConstraint, of requester: RangingRequester?, with error: CLError) {
        switch requester {
        case .constraint:
            delegate?.locationManager(self, didFailRangingFor: CLBeaconIdentityConstraint(constraint), error: error)
        case .region(let identifier):
            for region in core.rangings(of: constraint).regions where region.identifier == identifier {
                delegate?.locationManager(self, rangingBeaconsDidFailFor: CLBeaconRegion(region), withError: error)
            }
        case nil: break
        }
    }
}

/// The movement of an app's user. Core Location may save power by it; nothing here depends on it.
public enum CLActivityType: Int, Sendable, BitwiseCopyable {
    /// Nothing of what follows.
    case other = 1

    /// Driving along roads.
    case automotiveNavigation = 2

    /// Walking, running, cycling.
    case fitness = 3

    /// Travelling by train, boat and the like.
    case otherNavigation = 4

    /// Flying.
    case airborne = 5
}
