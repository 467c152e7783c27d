/// The delegate of a location manager, which receives its events.
///
/// In Apple's SDK, every method is optional. Swift has optional methods only with the Objective-C runtime, so here each
/// method has a default implementation that does nothing. Conforming classes need not change. Optional calls such as
/// `delegate?.locationManager?(…)` compile and call the method or its default. There is no way to find out whether a
/// delegate implements a method. If two callbacks exist for an event, the request decides which one is called.
///
/// Two kinds of method are never called, without a warning from the compiler: a method in a subclass of the class that
/// declares the conformance, and a method whose signature differs in any way.
///
/// Some methods are deprecated on Apple's systems, which causes warnings for callers but not for implementations. They
/// cause no warnings here.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    /// Reports that the authorization or the accuracy became known or changed. Called once soon after a manager is
    /// created.
    ///
    /// The default calls ``locationManager(_:didChangeAuthorization:)``, so that it does not matter which of the two a
    /// delegate implements.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

    /// Reports that the authorization became known or changed, in the form used before iOS 14.
    ///
    /// Only the default of ``locationManagerDidChangeAuthorization(_:)`` calls it.
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)

    /// Reports that location services failed. The error is a ``CLError``.
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)

    /// Reports that monitoring of a region has started.
    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)

    /// Reports that the device entered a region.
    ///
    /// Every manager of the app reports it, not only the one that started the monitoring.
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

    /// Reports that the device left a region.
    ///
    /// Every manager of the app reports it, not only the one that started the monitoring.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

    /// Reports the state of a region after a change or a request.
    func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

    /// Reports that a region cannot be monitored. The error is a ``CLError``; the region is nil if the failure concerns
    /// none in particular.
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error)

    /// Reports the beacons that satisfy a constraint each second, nearest first and those with unknown distance last.
    /// The array is empty if there are no beacons. Follows `startRangingBeacons(satisfying:)`.
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint)

    /// Reports that beacons cannot be ranged. The error is a ``CLError``. Follows `startRangingBeacons(satisfying:)`.
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error)

    /// Reports the beacons of a region each second, nearest first and those with unknown distance last. The array is
    /// empty if there are no beacons. Follows `startRangingBeacons(in:)`.
    func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

    /// Reports that beacons cannot be ranged. The error is a ``CLError``. Follows `startRangingBeacons(in:)`.
    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error)

    /// Reports that the device moved. Never called: positions are not available.
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

    /// Reports that the device moved, in the form used before iOS 6. Never called.
    func locationManager(
        _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation)

    /// Reports that the device turned. Never called: headings are not available.
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

    /// Returns whether the system may ask the user to calibrate the compass. Never called. The default returns false.
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

    /// Reports that a visit started or ended. Never called: positions are not available.
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)

    /// Reports that location updates were paused. Never called.
    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

    /// Reports that location updates were resumed. Never called.
    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

    /// Reports that deferred location updates ended. Never called.
    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)
}

// The default implementations, which stand for "not implemented".
public extension CLLocationManagerDelegate {
    /// Calls ``locationManager(_:didChangeAuthorization:)``.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        locationManager(manager, didChangeAuthorization: manager.authorizationStatus)
    }
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {}
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
    func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {}
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) {}
    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
    ) {}
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    func locationManager(
        _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
    ) {}
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
    /// Returns false.
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { false }
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {}
}

// Support for optional calls, `delegate?.method?(…)`, which Apple's protocols allow. Every delegate has every method
// here, at least a default that does nothing, so these calls are never skipped.
extension CLLocationManagerDelegate {
    /// The methods with this name, for optional calls.
    public var locationManager: CLLocationManagerDelegateCalls? { CLLocationManagerDelegateCalls(self) }

    /// The method with this name, for optional calls.
    public var locationManagerDidChangeAuthorization: ((CLLocationManager) -> Void)? {
        { self.locationManagerDidChangeAuthorization($0) }
    }

    /// The method with this name, for optional calls.
    public var locationManagerShouldDisplayHeadingCalibration: ((CLLocationManager) -> Bool)? {
        { self.locationManagerShouldDisplayHeadingCalibration($0) }
    }

    /// The method with this name, for optional calls.
    public var locationManagerDidPauseLocationUpdates: ((CLLocationManager) -> Void)? {
        { self.locationManagerDidPauseLocationUpdates($0) }
    }

    /// The method with this name, for optional calls.
    public var locationManagerDidResumeLocationUpdates: ((CLLocationManager) -> Void)? {
        { self.locationManagerDidResumeLocationUpdates($0) }
    }
}

/// The methods named `locationManager` of a ``CLLocationManagerDelegate``, for optional calls.
public struct CLLocationManagerDelegateCalls {
    private let delegate: any CLLocationManagerDelegate

    init(_ delegate: any CLLocationManagerDelegate) { self.delegate = delegate }
}

public extension CLLocationManagerDelegateCalls {
    func callAsFunction(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
        delegate.locationManager(manager, didChangeAuthorization: status)
    }
    func callAsFunction(_ manager: CLLocationManager, didFailWithError error: any Error) {
        delegate.locationManager(manager, didFailWithError: error)
    }
    func callAsFunction(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        delegate.locationManager(manager, didStartMonitoringFor: region)
    }
    func callAsFunction(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        delegate.locationManager(manager, didEnterRegion: region)
    }
    func callAsFunction(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        delegate.locationManager(manager, didExitRegion: region)
    }
    func callAsFunction(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        delegate.locationManager(manager, didDetermineState: state, for: region)
    }
    func callAsFunction(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        delegate.locationManager(manager, monitoringDidFailFor: region, withError: error)
    }
    func callAsFunction(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        delegate.locationManager(manager, didRange: beacons, satisfying: beaconConstraint)
    }
    func callAsFunction(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
    ) {
        delegate.locationManager(manager, didFailRangingFor: beaconConstraint, error: error)
    }
    func callAsFunction(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) {
        delegate.locationManager(manager, didRangeBeacons: beacons, in: region)
    }
    func callAsFunction(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
    ) {
        delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error)
    }
    func callAsFunction(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        delegate.locationManager(manager, didUpdateLocations: locations)
    }
    func callAsFunction(
        _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
    ) {
        delegate.locationManager(manager, didUpdateTo: newLocation, from: oldLocation)
    }
    func callAsFunction(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
        delegate.locationManager(manager, didUpdateHeading: newHeading)
    }
    func callAsFunction(_ manager: CLLocationManager, didVisit visit: CLVisit) {
        delegate.locationManager(manager, didVisit: visit)
    }
    func callAsFunction(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
        delegate.locationManager(manager, didFinishDeferredUpdatesWithError: error)
    }
}
