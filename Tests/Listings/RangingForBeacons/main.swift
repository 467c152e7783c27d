import BeaconTestKit
import CoreLocation

// Compiled in one module with the listings of 'Ranging for Beacons', whose class is `C`.

extension C {
    // The document describes these two methods in its text only.
    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        guard let region = region as? CLBeaconRegion else { return }
        if state == .inside {
            manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
        } else {
            manager.stopRangingBeacons(satisfying: region.beaconIdentityConstraint)
        }
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        beaconConstraints[beaconConstraint] = beacons
        self.beacons = Dictionary(grouping: beaconConstraints.values.joined(), by: \.proximity)
    }
}

let check = Check()
if CommandLine.arguments.contains("conformance") {
    await check.conforms("RangingForBeacons") { conformance in
        let app = C()
        app.locationManager.delegate = app
        if let uuid = app.beaconUUID { app.b(uuid: uuid) }
        return app
    }
    check.finish()
}
let air = SimulatedAir(authorization: .notDetermined)
check.that("the app has a bundle identifier", Bundle.main.bundleIdentifier == "com.example.listings")

let ranging = air.device.run { C() }
ranging.locationManager.delegate = ranging
if let uuid = ranging.beaconUUID {
    ranging.b(uuid: uuid)
    // Initially a region counts as outside only after the exit time-out.
    air.advance(by: .seconds(35))
    check.that("permission is requested", ranging.locationManager.authorizationStatus == .authorizedWhenInUse)
    check.that("nothing is ranged outside", ranging.locationManager.rangedBeaconConstraints.isEmpty)

    // The other device has the other role.
    let configuring = air.makeDevice("configuring", at: .distance(1)).run { C() }
    configuring.major = 4
    configuring.minor = 2
    air.advance(by: .seconds(1))
    check.that("Bluetooth is on", configuring.peripheralManager.state == .poweredOn)
    configuring.a()
    air.advance(by: .seconds(1))
    check.that("advertising has started", configuring.peripheralManager.isAdvertising)
    check.that("the region has the app's bundle identifier", configuring.region?.identifier == "com.example.listings")
    air.advance(by: .seconds(1))
    check.that("enter starts ranging", ranging.locationManager.rangedBeaconConstraints.count == 1)
    air.advance(by: .seconds(3))
    check.that("the beacon is near", ranging.beacons[.near]?.map(\.minor) == [2], "\(ranging.beacons)")

    configuring.enabled = false
    configuring.a()
    air.advance(by: .seconds(5))
    check.that("switched off, it is unknown", ranging.beacons[.unknown]?.map(\.minor) == [2], "\(ranging.beacons)")
    air.advance(by: .seconds(60))
    check.that("exit stops ranging", ranging.locationManager.rangedBeaconConstraints.isEmpty)
} else {
    check.that("the listing has a UUID", false)
}
check.finish()
