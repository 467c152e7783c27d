// Each part of Core Location that code imports by itself. None of these files imports the whole.
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

@Suite("Imports of a part of Core Location")
struct SubmoduleImportTests {
    @Test("A part brings the module with all that it has, and Foundation")
    func parts() {
        let region: CLRegion = CLBeaconRegion(uuid: UUID(), identifier: "part")
        #expect(region.identifier == "part")
        #expect(CLError(.denied).code == .denied)
        #expect(CLBeaconRegion().identifier.isEmpty && CLCircularRegion().radius == 0)
    }
}
