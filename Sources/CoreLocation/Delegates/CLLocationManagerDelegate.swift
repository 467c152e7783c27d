/// What a `CLLocationManager` tells its app.
///
/// In Apple's SDK every method is optional. Swift has optional methods only with the Objective-C runtime, so here each has
/// a default that does nothing; conforming classes need not change. What cannot be had is the question whether a delegate
/// has a method: which of two callbacks comes depends on what was started.
///
/// A method in a subclass of the class that declares the conformance, and a method whose signature differs in the least,
/// is not called, and the compiler does not say so.
///
/// Some methods are deprecated on Apple's systems. That warns who calls them, not who implements them; so does nothing
/// here.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    /// The authorization or the accuracy is known, or has changed. Called once soon after a manager is made.
    ///
    /// The default calls ``locationManager(_:didChangeAuthorization:)``, so that delegates that know only one of the two
    /// hear of it.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

    /// The authorization is known, or has changed: the form of before iOS 14.
    ///
    /// It is called by the default of ``locationManagerDidChangeAuthorization(_:)`` and by nothing else.
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)

    /// Location services failed. The error is a ``CLError``.
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)

    /// A region is being monitored from now on.
    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)

    /// The device came into a region in which it was not.
    ///
    /// Every manager of the app tells it, not only the one that started the monitoring.
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

    /// The device left a region in which it was.
    ///
    /// Every manager of the app tells it, not only the one that started the monitoring.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

    /// The state of a region changed, or was asked for.
    func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

    /// A region cannot be monitored. The error is a ``CLError``; the region is nil where none is to blame.
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error)

    /// The beacons that satisfy a constraint, each second, nearest first and unknown ones last; none gives an empty
    /// array. Answers `startRangingBeacons(satisfying:)`.
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint)

    /// Beacons cannot be ranged. The error is a ``CLError``. Answers `startRangingBeacons(satisfying:)`.
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error)

    /// The beacons of a region, each second, nearest first and unknown ones last; none gives an empty array. Answers
    /// `startRangingBeacons(in:)`.
    func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

    /// Beacons cannot be ranged. The error is a ``CLError``. Answers `startRangingBeacons(in:)`.
    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error)

    /// The device moved. Never called: no position is known here.
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

    /// The device moved: the form of before iOS 6. Never called.
    func locationManager(
        _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation)

    /// The device turned. Never called: no heading is known here.
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

    /// Whether to ask the user to calibrate the compass. Never called. The default answers no.
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

    /// A stay began or ended. Never called: no position is known here.
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)

    /// Location updates pause. Never called.
    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

    /// Location updates go on. Never called.
    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

    /// Deferred location updates ended. Never called.
    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)
}
