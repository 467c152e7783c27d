import CoreLocation
import Testing

@Suite struct CLLocationManagerDelegateTests {
    @Test("The default of the new authorization callback calls the old one")
    func theOldAuthorizationCallbackIsCalledByTheNewOnesDefault() {
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

    @Test("A delegate with the new authorization callback receives only that")
    func newCallbackOnly() {
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

    @Test("All methods have defaults")
    func allMethodsHaveDefaults() {
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

    @Test("A class on the main actor conforms")
    @MainActor func aClassOnTheMainActorConforms() {
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

    @Test("Optional calls, as in mocks, reach the delegate's methods and their defaults (C4)")
    func optionalCalls() {
        let witness = LocationWitness()
        weak var delegate: (any CLLocationManagerDelegate)? = witness
        let manager = CLLocationManager()
        let region = CLBeaconRegion(uuid: deployment, identifier: "a")
        let constraint = region.beaconIdentityConstraint
        let error = CLError(.denied)
        let place = CLLocation(latitude: 0, longitude: 0)
        delegate?.locationManager?(manager, didChangeAuthorization: .denied)
        delegate?.locationManager?(manager, didFailWithError: error)
        delegate?.locationManager?(manager, didStartMonitoringFor: region)
        delegate?.locationManager?(manager, didEnterRegion: region)
        delegate?.locationManager?(manager, didExitRegion: region)
        delegate?.locationManager?(manager, didDetermineState: .inside, for: region)
        delegate?.locationManager?(manager, monitoringDidFailFor: nil, withError: error)
        delegate?.locationManager?(manager, didRange: [], satisfying: constraint)
        delegate?.locationManager?(manager, didFailRangingFor: constraint, error: error)
        delegate?.locationManager?(manager, didRangeBeacons: [], in: region)
        delegate?.locationManager?(manager, rangingBeaconsDidFailFor: region, withError: error)
        delegate?.locationManager?(manager, didUpdateLocations: [place])
        delegate?.locationManager?(manager, didUpdateTo: place, from: place)
        delegate?.locationManager?(manager, didUpdateHeading: CLHeading())
        delegate?.locationManager?(manager, didVisit: CLVisit())
        delegate?.locationManager?(manager, didFinishDeferredUpdatesWithError: nil)
        delegate?.locationManagerDidPauseLocationUpdates?(manager)
        delegate?.locationManagerDidResumeLocationUpdates?(manager)
        #expect(delegate?.locationManagerShouldDisplayHeadingCalibration?(manager) == false)
        #expect(
            witness.take() == ["started a", "enter a", "exit a", "a 1", "failed - 1", "ranged * 0", "deferred -1"])
        delegate?.locationManagerDidChangeAuthorization?(manager)
        #expect(witness.take().count == 1)
        delegate = nil
        #expect(delegate?.locationManager?(manager, didVisit: CLVisit()) == nil)
        withExtendedLifetime(witness) {}
    }

    @Test("An optional call of the new authorization callback reaches the old one once, through the default (C4)")
    func optionalCallOfADefault() {
        final class Old: NSObject, CLLocationManagerDelegate {
            var count = 0
            func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
                count += 1
            }
        }
        let old = Old()
        (old as any CLLocationManagerDelegate).locationManagerDidChangeAuthorization?(CLLocationManager())
        #expect(old.count == 1)
    }

    @Test("A delegate may have a property named locationManager, of any of the usual types (C4)")
    func propertiesOfThatName() {
        final class Plain: NSObject, CLLocationManagerDelegate {
            let locationManager = CLLocationManager()
            func use() -> Bool { locationManager.delegate == nil }
        }
        final class Optional: NSObject, CLLocationManagerDelegate {
            var locationManager: CLLocationManager?
            func use() -> Bool {
                guard let locationManager else { return false }
                return locationManager.delegate == nil
            }
        }
        final class Unwrapped: NSObject, CLLocationManagerDelegate {
            var locationManager: CLLocationManager!
            func use() -> Bool { locationManager.delegate == nil }
        }
        class Parent: NSObject, CLLocationManagerDelegate {}
        final class Child: Parent {
            private(set) lazy var locationManager: CLLocationManager = {
                let manager = CLLocationManager()
                manager.delegate = self
                return manager
            }()
            func use() -> Bool { locationManager.delegate === self }
        }
        let optional = Optional()
        optional.locationManager = CLLocationManager()
        let unwrapped = Unwrapped()
        unwrapped.locationManager = CLLocationManager()
        #expect(Plain().use() && optional.use() && unwrapped.use() && Child().use())
    }

    @Test("Other tasks may capture beacons and regions (C6)")
    func captured() async {
        let beacons = [CLBeacon()]
        let regions: [CLRegion] = [
            CLBeaconRegion(uuid: deployment, identifier: "a"),
            CLCircularRegion(center: CLLocationCoordinate2D(), radius: 1, identifier: "b"),
        ]
        let words: @Sendable () -> [String] = { beacons.map { "\($0.major)" } + regions.map(\.identifier) }
        #expect(await Task.detached { words() }.value == ["0", "a", "b"])
        // One task may change the flags while another reads them.
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<200 { regions[0].notifyOnEntry = !regions[0].notifyOnExit } }
            }
        }
        #expect(!regions[0].notifyOnEntry)
    }
}
