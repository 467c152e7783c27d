// The submodules of Core Location that code imports. None of these files imports the whole module.
import CoreLocation.CLAvailability
import CoreLocation.CLBeaconIdentityConstraint
import CoreLocation.CLBeaconRegion
import CoreLocation.CLCircularRegion
import CoreLocation.CLError
import CoreLocation.CLErrorDomain
import CoreLocation.CLGeocoder
import CoreLocation.CLHeading
import CoreLocation.CLLocation
import CoreLocation.CLLocationManager
import CoreLocation.CLLocationManagerDelegate
import CoreLocation.CLLocationManager_CLVisitExtensions
import CoreLocation.CLMonitor
import CoreLocation.CLPlacemark
import CoreLocation.CLRegion
import CoreLocation.CLVisit
import Testing

@Suite("Imports of Core Location's submodules")
struct SubmoduleImportTests {
    @Test("A submodule provides the whole module and Foundation")
    func parts() {
        let region: CLRegion = CLBeaconRegion(uuid: UUID(), identifier: "part")
        #expect(region.identifier == "part")
        #expect(CLError(.denied).code == .denied)
        #expect(CLBeaconRegion().identifier.isEmpty && CLCircularRegion().radius == 0)
    }
}
