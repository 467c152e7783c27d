import BeaconTestKit
import CoreLocation
import KumulosSDK

// Runs in one module with Kumulos' recipe, whose class is `MyLocationManagerDelegate`.

extension MyLocationManagerDelegate {
    // The recipe never stops ranging. Apple's article says that this is the place for it.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        guard let region = region as? CLBeaconRegion else { return }
        manager.stopRangingBeacons(in: region)
    }
}

/// Keeps the events in memory. All of it happens on the main thread.
final class Inbox: KumulosEventSink, @unchecked Sendable {
    var events: [KumulosEvent] = []

    func record(_ event: KumulosEvent) { events.append(event) }
}

let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
let check = Check()
let air = SimulatedAir(authorization: .notDetermined)
air.install()
let inbox = Inbox()
Kumulos.initialize(
    config: KSConfigBuilder(apiKey: "check", secretKey: "check").setEventSink(inbox).build())

let recipe = MyLocationManagerDelegate()
air.advance(by: .seconds(15))
check.that("permission is asked for", recipe.locationManager.authorizationStatus == .authorizedAlways)
check.that("nothing is ranged outside", recipe.locationManager.rangedRegions.isEmpty && inbox.events.isEmpty)

let till = air.place(SimulatedBeacon(uuid, major: 7, minor: 9, at: 0.2))
air.advance(by: .seconds(1))
check.that("enter starts ranging", recipe.locationManager.rangedRegions.count == 1)
air.advance(by: .seconds(9))
check.that("Kumulos is told once, not each second", inbox.events.count == 1, "\(inbox.events.count) events")
if let event = inbox.events.first {
    check.that("as Kumulos' own SDK does", event.type == "k.engage.beaconEnteredProximity" && event.data.type == 1)
    check.that(
        "of the beacon and its proximity",
        event.data.uuid == uuid && event.data.major == "7" && event.data.minor == "9" && event.data.proximity == 1)
}
air.place(SimulatedBeacon(uuid, major: 7, minor: 10, at: 2))
air.advance(by: .seconds(5))
check.that("a second beacon is told too", inbox.events.map(\.data.minor) == ["9", "10"])

till.remove()
air.device.position = .distance(100_000)
air.advance(by: .seconds(60))
check.that("exit stops ranging", recipe.locationManager.rangedRegions.isEmpty)
air.device.position = .distance(0)
air.advance(by: .seconds(3))
check.that("another visit ranges again", recipe.locationManager.rangedRegions.count == 1)
check.that("and is told again", inbox.events.map(\.data.minor) == ["9", "10", "10"], "\(inbox.events)")
check.finish()
