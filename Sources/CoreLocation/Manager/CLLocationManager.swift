internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport
import Foundation

/// A manager that starts and stops the delivery of beacon events to an app.
///
/// Region monitoring and ranging of beacons work as documented for Core Location, over the radio in `BEACON_SOURCE`.
/// Positions, headings and visits need hardware that is not available: requests for them fail, and no values are
/// invented.
///
/// A manager created on the main thread makes its callbacks on the main queue. On a thread that the program started, it
/// uses the thread's run loop. A pool thread has no run loop, so the main queue is used, which is logged.
open class CLLocationManager: NSObject {
    private let part: AppPart<LocationManagerCore>
    private let delegates: DelegateBox<any CLLocationManagerDelegate>

    private var core: LocationManagerCore { part.current }

    /// The object that receives events. The reference is weak, and any thread may set it.
    ///
    /// The first callback, for the authorization, waits until a delegate is set.
    open weak var delegate: (any CLLocationManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue.map { new in { [weak new] in new } }) else { return }
            later { manager in
                guard let delegate = manager.delegates.delegateForHeldCallback() else { return }
                delegate.locationManagerDidChangeAuthorization(manager)
                manager.core.requestMissedChanges()
                manager.reportServiceFailures()
            }
        }
    }

    /// Creates a manager without requests. Its delegate receives the authorization once, soon after.
    public override init() {
        let delegates = DelegateBox<any CLLocationManagerDelegate>()
        self.delegates = delegates
        let context = CallbackContext.ofCurrentThread(for: "A CLLocationManager")
        part = AppPart(of: "a CLLocationManager") { center in
            LocationManagerCore(center: center, context: context, hasDelegate: { delegates.delegate != nil })
        }
        super.init()
        let reference = WeakReference(self)
        part.begin { core in core.begin { event in reference.object?.handle(event) } }
    }

    // MARK: - Availability

    /// Returns true: location services cannot be switched off here.
    open class func locationServicesEnabled() -> Bool { true }

    /// Returns true for `CLBeaconRegion`, unless the machine is known to have no radio; false for other regions.
    ///
    /// The result does not depend on permission, nor on whether the radio is switched on.
    open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
        regionClass is CLBeaconRegion.Type && hasRadio
    }

    /// Returns true, unless the machine is known to have no radio.
    ///
    /// The result does not depend on permission, nor on whether the radio is switched on.
    open class func isRangingAvailable() -> Bool { hasRadio }

    private static var hasRadio: Bool { BeaconCenter.current.hasRadio }

    /// Returns false: changes of position cannot be detected here.
    open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

    /// Returns false: there is no compass.
    open class func headingAvailable() -> Bool { false }

    /// Returns true, unless the machine is known to have no radio.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringAvailable() -> Bool { hasRadio }

    /// Returns true, unless the machine is known to have no radio.
    @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
    open class func regionMonitoringEnabled() -> Bool { hasRadio }

    /// Returns false: positions are not available, so none can be deferred.
    open class func deferredLocationUpdatesAvailable() -> Bool { false }

    // MARK: - Authorization

    /// Returns the app's permission to use location services.
    open class func authorizationStatus() -> CLAuthorizationStatus {
        CLAuthorizationStatus(BeaconCenter.current.snapshot.authorization)
    }

    /// The app's permission to use location services.
    open var authorizationStatus: CLAuthorizationStatus { CLAuthorizationStatus(core.center.snapshot.authorization) }

    /// The accuracy that the app may use. It is full, unless the user of a simulated device reduces it.
    open var accuracyAuthorization: CLAccuracyAuthorization {
        core.center.snapshot.limits.contains(.reducedAccuracy) ? .reducedAccuracy : .fullAccuracy
    }

    /// A Boolean value indicating whether the app's widgets may use location services; there are no widgets here.
    open var isAuthorizedForWidgetUpdates: Bool { false }

    /// Requests permission to detect beacons while the application runs. Has no effect if the status is already
    /// determined.
    ///
    /// The user of the app's terminal is asked. Without a terminal, the request is granted. An administrator can decide
    /// otherwise.
    open func requestWhenInUseAuthorization() { core.request(.whenInUse) }

    /// Requests permission to detect beacons at any time, and to be launched for them. It is answered like
    /// ``requestWhenInUseAuthorization()``.
    open func requestAlwaysAuthorization() { core.request(.always) }

    /// Requests full accuracy temporarily, which is always granted.
    open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
    ) {
        core.requestFullAccuracy()
        guard let completion else { return }
        // The app's own closure, which only the callback calls.
        let answer = UnsafeTransfer(completion)
        core.makeCallback { answer.value(nil) }
    }

    /// Requests full accuracy temporarily, which is always granted.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {
        core.requestFullAccuracy()
    }

    /// Requests full accuracy temporarily, which is always granted.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) async throws {
        core.requestFullAccuracy()
    }

    // MARK: - Monitoring

    /// Starts to monitor a region for the whole application and across its launches.
    ///
    /// `didStartMonitoringFor` follows, then `didDetermineState` once the state is known. A region with the same
    /// identifier is replaced. For more than 20 regions, and for regions other than beacon regions,
    /// `monitoringDidFailFor` follows with `CLError.regionMonitoringFailure`, or with `regionMonitoringDenied` if the
    /// app may not monitor regions.
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

    /// Starts to monitor a region; the accuracy has no effect for beacons.
    @available(*, deprecated, renamed: "startMonitoring(for:)")
    open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
        startMonitoring(for: region)
    }

    /// Stops monitoring the beacon region with this identifier, whichever manager started it. Harmless if it is not
    /// monitored.
    ///
    /// This manager makes no further callbacks about the region. A region of another kind is a different region, even
    /// with the same identifier, and is never monitored.
    open func stopMonitoring(for region: CLRegion) {
        if region is CLBeaconRegion { core.stopMonitoring(region.identifier) }
        core.stop(UnavailableRequests.RegionRequest(.monitoring, region))
    }

    /// Requests the state of a region, which `didDetermineState` reports. The state of a region that is not monitored
    /// is unknown. For regions other than beacon and circular regions nothing happens, as Core Location's documentation
    /// states.
    open func requestState(for region: CLRegion) {
        if let beacons = region as? CLBeaconRegion { return core.requestState(of: RegisteredRegion(beacons)) }
        guard region is CLCircularRegion else { return }
        let copy = region.copy() as? CLRegion ?? region
        later { $0.delegate?.locationManager($0, didDetermineState: .unknown, for: copy) }
    }

    /// The regions that the application monitors, including those of earlier launches. The objects may differ from the
    /// registered ones, and changes appear after a short delay.
    open var monitoredRegions: Set<CLRegion> {
        Set(core.center.snapshot.regions.map { CLBeaconRegion($0) })
    }

    /// The maximum radius of circular regions; -1, since they cannot be monitored.
    open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

    // MARK: - Ranging

    /// Starts to range the beacons that satisfy a constraint. `didRange:satisfying:` reports them once a second, or
    /// `didFailRangingFor:error:` reports an error. A second call has no further effect.
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

    /// Starts to range the beacons of a region. `didRangeBeacons:in:` reports them once a second, or
    /// `rangingBeaconsDidFailFor:withError:` reports an error.
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

    // MARK: - Positions, which are not available

    /// The desired accuracy of positions.
    open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest

    /// The distance between two position updates.
    open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone

    /// The expected movement of the user.
    open var activityType = CLActivityType.other

    /// A Boolean value indicating whether position updates may pause.
    open var pausesLocationUpdatesAutomatically = true

    /// A Boolean value indicating whether the app continues in the background, as every process does here. On a
    /// simulated device, it does while positions are requested, if the request began in the foreground.
    open var allowsBackgroundLocationUpdates = false {
        didSet { core.allowBackgroundUpdates(allowsBackgroundLocationUpdates) }
    }

    /// A Boolean value indicating whether background use of positions is shown.
    open var showsBackgroundLocationIndicator = false

    /// The angle between two heading updates, in degrees.
    open var headingFilter: CLLocationDegrees = 1

    /// The orientation of the device.
    open var headingOrientation = CLDeviceOrientation.portrait

    /// The body that headings refer to.
    open var headingBody: (any CLBodyIdentifiable)?

    /// The last position; always nil here.
    open var location: CLLocation? { nil }

    /// The last heading; always nil here.
    open var heading: CLHeading? { nil }

    /// Requests positions; `didFailWithError` follows with `CLError.locationUnknown`, or with `denied` without
    /// permission.
    open func startUpdatingLocation() { start(.positions) }

    /// Stops requests for positions, including a request for a single position.
    open func stopUpdatingLocation() {
        core.stop(.positions)
        core.stop(.onePosition)
    }

    /// Requests one position; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func requestLocation() { start(.onePosition) }

    /// Requests large changes of position; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func startMonitoringSignificantLocationChanges() { start(.significantChanges) }

    /// Stops requests for large changes of position.
    open func stopMonitoringSignificantLocationChanges() { core.stop(.significantChanges) }

    /// Requests visits; `didFailWithError` follows as for ``startUpdatingLocation()``.
    open func startMonitoringVisits() { start(.visits) }

    /// Stops requests for visits.
    open func stopMonitoringVisits() { core.stop(.visits) }

    /// Requests headings; `didFailWithError` follows with `CLError.headingFailure`.
    open func startUpdatingHeading() { start(.headings) }

    /// Stops requests for headings.
    open func stopUpdatingHeading() { core.stop(.headings) }

    /// Requests a token for location pushes. There is no push service here, so the request fails with
    /// `CLLocationPushServiceError.unsupportedPlatform`.
    open func startMonitoringLocationPushes(completion: ((Data?, (any Error)?) -> Void)? = nil) {
        guard let completion else { return }
        // The app's own closure, which only the callback calls.
        let answer = UnsafeTransfer(completion)
        core.makeCallback { answer.value(nil, CLLocationPushServiceError(.unsupportedPlatform)) }
    }

    /// Requests a token for location pushes. There is no push service here.
    ///
    /// - Throws: `CLLocationPushServiceError.unsupportedPlatform`
    open func startMonitoringLocationPushes() async throws -> Data {
        throw CLLocationPushServiceError(.unsupportedPlatform)
    }

    /// Requests earlier positions, as on watchOS. Nothing recorded any, so the request fails with
    /// `CLError.historicalLocationError`.
    open func requestHistoricalLocations(
        purposeKey: String, sampleCount: Int, completionHandler: @escaping ([CLLocation], (any Error)?) -> Void
    ) {
        // The app's own closure, which only the callback calls.
        let answer = UnsafeTransfer(completionHandler)
        core.makeCallback { answer.value([], CLError(.historicalLocationError)) }
    }

    /// Stops location pushes. Does nothing.
    open func stopMonitoringLocationPushes() {}

    /// Dismisses the request to calibrate the compass. Does nothing, since it is never shown.
    open func dismissHeadingCalibrationDisplay() {}

    /// Requests deferred positions; `didFinishDeferredUpdatesWithError` follows with `CLError.deferredFailed`.
    @available(*, deprecated, message: "No system defers positions any longer.")
    open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
        later { $0.delegate?.locationManager($0, didFinishDeferredUpdatesWithError: CLError(.deferredFailed)) }
    }

    /// Stops deferring positions. Does nothing.
    @available(*, deprecated, message: "No system defers positions any longer.")
    open func disallowDeferredLocationUpdates() {}

    private func start(_ service: LocationService) {
        core.start(service)
        later { $0.reportServiceFailures() }
    }

    private func reportServiceFailures() {
        for code in core.takeServiceFailures() { delegate?.locationManager(self, didFailWithError: CLError(code)) }
    }

    /// Answers a request about a region that cannot be monitored or ranged, unless the app stops the request first.
    private func refuse(
        _ request: UnavailableRequests.RegionRequest, _ answer: @escaping @Sendable (CLLocationManager) -> Void
    ) {
        core.start(request)
        later { if $0.core.take(request) { answer($0) } }
    }

    /// Makes a call in the callback context, after pending callbacks.
    private func later(_ call: @escaping @Sendable (CLLocationManager) -> Void) {
        let reference = WeakReference(self)
        core.makeCallback {
            if let manager = reference.object { call(manager) }
        }
    }

    // MARK: - Callbacks

    private func handle(_ event: ClientEvent) {
        if delegate != nil { core.center.noteObservation(.callback(event)) }
        switch event {
        case .limits:
            delegate?.locationManagerDidChangeAuthorization(self)
        case .authorization:
            guard let delegate = delegates.delegateOrHold() else { return }
            delegate.locationManagerDidChangeAuthorization(self)
            // Missed changes are delivered once there is a delegate to receive them.
            core.requestMissedChanges()
            reportServiceFailures()
        case .started(let region):
            delegate?.locationManager(self, didStartMonitoringFor: CLBeaconRegion(region))
        case .monitoringFailed(let region, let failure):
            let isDenied = failure == .denied || failure == .deniedBeyondLimit
            delegate?.locationManager(
                self, monitoringDidFailFor: CLBeaconRegion(region),
                withError: CLError(isDenied ? .regionMonitoringDenied : .regionMonitoringFailure))
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

    /// Reports a failure to the request that caused it.
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

/// The movement of an app's user. Core Location may use it to save power; it has no effect here.
public enum CLActivityType: Int, Sendable, BitwiseCopyable {
    /// None of the following.
    case other = 1

    /// Driving along roads.
    case automotiveNavigation = 2

    /// Walking, running or cycling.
    case fitness = 3

    /// Traveling by train, boat and similar means.
    case otherNavigation = 4

    /// Flying.
    case airborne = 5

    /// On the water.
    case maritime = 6
}
