import CoreLocation
import Testing

@Suite struct CLLocationManagerDelegateTests {
    @Test func theOldAuthorizationCallbackIsCalledByTheNewOnesDefault() {
        final class Old: NSObject, CLLocationManagerDelegate {
            var heard: [CLAuthorizationStatus] = []
            func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
                heard.append(status)
            }
        }
        final class Manager: CLLocationManager {
            override var authorizationStatus: CLAuthorizationStatus { .authorizedWhenInUse }
        }
        let old = Old()
        let delegate: any CLLocationManagerDelegate = old
        delegate.locationManagerDidChangeAuthorization(Manager())
        #expect(old.heard == [.authorizedWhenInUse])
    }

    @Test func whoKnowsTheNewCallbackHearsOnlyThat() {
        final class Both: NSObject, CLLocationManagerDelegate {
            var heard: [String] = []
            func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
                heard.append("old")
            }
            func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { heard.append("new") }
        }
        let both = Both()
        (both as any CLLocationManagerDelegate).locationManagerDidChangeAuthorization(CLLocationManager())
        #expect(both.heard == ["new"])
    }

    @Test func allMethodsHaveDefaults() {
        final class Nothing: NSObject, CLLocationManagerDelegate {}
        let delegate: any CLLocationManagerDelegate = Nothing()
        let manager = CLLocationManager()
        let region = CLBeaconRegion(uuid: deployment, identifier: "a")
        let constraint = region.beaconIdentityConstraint
        let error = CLError(.denied)
        let place = CLLocation(latitude: 0, longitude: 0)
        delegate.locationManagerDidChangeAuthorization(manager)
        delegate.locationManager(manager, didChangeAuthorization: .denied)
        delegate.locationManager(manager, didFailWithError: error)
        delegate.locationManager(manager, didStartMonitoringFor: region)
        delegate.locationManager(manager, didEnterRegion: region)
        delegate.locationManager(manager, didExitRegion: region)
        delegate.locationManager(manager, didDetermineState: .inside, for: region)
        delegate.locationManager(manager, monitoringDidFailFor: nil, withError: error)
        delegate.locationManager(manager, didRange: [], satisfying: constraint)
        delegate.locationManager(manager, didFailRangingFor: constraint, error: error)
        delegate.locationManager(manager, didRangeBeacons: [], in: region)
        delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error)
        delegate.locationManager(manager, didUpdateLocations: [place])
        delegate.locationManager(manager, didUpdateTo: place, from: place)
        delegate.locationManager(manager, didUpdateHeading: CLHeading())
        #expect(!delegate.locationManagerShouldDisplayHeadingCalibration(manager))
        delegate.locationManager(manager, didVisit: CLVisit())
        delegate.locationManagerDidPauseLocationUpdates(manager)
        delegate.locationManagerDidResumeLocationUpdates(manager)
        delegate.locationManager(manager, didFinishDeferredUpdatesWithError: nil)
    }

    @Test @MainActor func aClassOnTheMainActorConforms() {
        @MainActor final class Screen: NSObject, CLLocationManagerDelegate {
            var titles: [String] = []
            nonisolated func locationManager(
                _ manager: CLLocationManager, didRange beacons: [CLBeacon],
                satisfying beaconConstraint: CLBeaconIdentityConstraint
            ) {
                let titles = beacons.map { "\($0.major)" }
                MainActor.assumeIsolated { self.titles = titles }
            }
        }
        let screen = Screen()
        let delegate: any CLLocationManagerDelegate = screen
        delegate.locationManager(
            CLLocationManager(), didRange: [CLBeacon()], satisfying: CLBeaconIdentityConstraint(uuid: deployment))
        #expect(screen.titles == ["0"])
    }
}
