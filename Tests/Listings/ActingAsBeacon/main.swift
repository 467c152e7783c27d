import BeaconTestKit
import CoreLocation

// Compiled in one module with the listings of 'Turning an iOS device into an iBeacon device', whose class is `B`.

/// Another user's phone, which ranges.
final class Passerby: NSObject, CLLocationManagerDelegate {
    let locationManager = CLLocationManager()
    var beacons: [CLBeacon] = []

    override init() {
        super.init()
        locationManager.delegate = self
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        self.beacons = beacons
    }
}

let listing = B()
if CommandLine.arguments.contains("shared") {
    // Use the air shared between processes, for the other document's listings in another process.
    if let region = listing.createBeaconRegion() { listing.advertiseDevice(region: region) }
    RunLoop.main.run()
}

let check = Check()
if CommandLine.arguments.contains("conformance") {
    // The document says that the app must stay in the foreground: the beacon is silent otherwise.
    await check.conforms("ActingAsBeacon", warned: [29]) { _ in
        let listing = B()
        if let region = listing.createBeaconRegion() { listing.advertiseDevice(region: region) }
        return listing
    }
    check.finish()
}
let air = SimulatedAir()
if let region = listing.createBeaconRegion() {
    check.that("the region has the listing's identity", region.major == 100 && region.minor == 1)
    let other = air.makeDevice("other", at: .distance(0.2))
    let passerby = other.run { Passerby() }
    passerby.locationManager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    air.advance(by: .seconds(3))
    check.that("no device hears it before", passerby.beacons.isEmpty)

    // In the document the manager is a local variable, and advertising is requested before its state is known.
    air.device.run { listing.advertiseDevice(region: region) }
    air.advance(by: .seconds(5))
    check.that("advertising starts right after init", air.device.advertisedFrameCount == 1)
    check.that("another device hears the beacon", passerby.beacons.map(\.major) == [100], "\(passerby.beacons)")
    check.that("its proximity is immediate", passerby.beacons.first?.proximity == .immediate, "\(passerby.beacons)")
    air.advance(by: .seconds(600))
    check.that("it stays while the app runs", passerby.beacons.first?.proximity == .immediate, "\(passerby.beacons)")

    air.device.setBluetooth(isOn: false)
    air.advance(by: .seconds(2))
    check.that("advertising stops with Bluetooth", air.device.advertisedFrameCount == 0)
} else {
    check.that("the listing creates a region", false)
}
check.finish()
