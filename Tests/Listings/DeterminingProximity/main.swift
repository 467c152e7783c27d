import BeaconTestKit
import CoreLocation

// Compiled in one module with the listings of 'Determining the proximity to an iBeacon device', whose class is `A`.

extension A {
    // The document says to stop ranging here, but has no listing for it.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        for region in beaconsToRange { manager.stopRangingBeacons(in: region) }
        beaconsToRange = []
        didLeave()
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .outside { isOutside() }
    }
}

/// Called when the visitor is known to be outside, and when the visitor has left.
var isOutside: () -> Void = {}
var didLeave: () -> Void = {}

/// The document's app with the two methods that it leaves to the reader.
class Museum: A {
    var exhibit: CLBeaconMinorValue?
    var reports: [[CLBeacon]] = []

    override func displayInformationAboutExhibit(major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        exhibit = minor
    }

    override func dismissExhibit(major: CLBeaconMajorValue, minor: CLBeaconMinorValue) { exhibit = nil }

    override func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) {
        reports.append(beacons)
        super.locationManager(manager, didRangeBeacons: beacons, in: region)
    }
}

/// The same app in the air shared between processes, in real time. It ends when the visitor leaves.
final class SharedMuseum: Museum {
    var hasShown = false

    override func displayInformationAboutExhibit(major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        super.displayInformationAboutExhibit(major: major, minor: minor)
        if !hasShown { say("exhibit \(minor) in room \(major)") }
        hasShown = true
    }

    func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// The same app with a screen that the conformance check sees.
final class ScreenMuseum: Museum {
    private let conformance: Conformance

    init(_ conformance: Conformance) { self.conformance = conformance }

    override func displayInformationAboutExhibit(major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        conformance.show("exhibit \(minor)")
    }

    override func dismissExhibit(major: CLBeaconMajorValue, minor: CLBeaconMinorValue) { conformance.show("") }
}

if CommandLine.arguments.contains("shared") {
    let museum = SharedMuseum()
    museum.locationManager.delegate = museum
    museum.locationManager.requestAlwaysAuthorization()
    museum.monitorBeacons()
    isOutside = { museum.say("outside") }
    didLeave = {
        museum.say("exit")
        exit(museum.hasShown && museum.locationManager.rangedRegions.isEmpty ? 0 : 1)
    }
    withExtendedLifetime(museum) { RunLoop.main.run() }
}

if CommandLine.arguments.contains("conformance") {
    let check = Check()
    await check.conforms("DeterminingProximity") { conformance in
        let museum = ScreenMuseum(conformance)
        museum.locationManager.delegate = museum
        museum.monitorBeacons()
        return museum
    }
    check.finish()
}

let uuid = "39ED98FF-2900-441A-802F-9C398FC199D2"
let check = Check()
let air = SimulatedAir()
air.install()
let museum = Museum()
museum.locationManager.delegate = museum
museum.monitorBeacons()
// Initially a region counts as outside only after the exit time-out.
air.advance(by: .seconds(35))
check.that("the region is monitored", museum.locationManager.monitoredRegions.count == 1)
check.that("nothing is ranged outside", museum.locationManager.rangedRegions.isEmpty && museum.reports.isEmpty)

let painting = air.place(SimulatedBeacon(uuid, minor: 1, at: 12))
air.advance(by: .seconds(1))
check.that("enter starts ranging", museum.locationManager.rangedRegions.count == 1)
air.advance(by: .seconds(4))
check.that("far: no exhibit", museum.reports.last?.first?.proximity == .far && museum.exhibit == nil)

// Visitors do not jump, and the filter needs some time to follow.
painting.move(toDistance: 1.5)
air.advance(by: .seconds(12))
check.that(
    "near: the exhibit", museum.reports.last?.first?.proximity == .near && museum.exhibit == 1,
    "\(museum.reports.last ?? [])")

painting.move(toDistance: 0.2)
air.advance(by: .seconds(12))
check.that("immediate: the exhibit", museum.reports.last?.first?.proximity == .immediate && museum.exhibit == 1)

let statue = air.place(SimulatedBeacon(uuid, minor: 2, at: 2))
air.place(SimulatedBeacon(uuid, minor: 3, at: 8))
air.advance(by: .seconds(3))
check.that("nearest first", museum.reports.last?.map(\.minor) == [1, 2, 3], "\(museum.reports.last ?? [])")
painting.move(toDistance: 5)
air.advance(by: .seconds(10))
check.that("the nearest changes", museum.reports.last?.map(\.minor) == [2, 1, 3], "\(museum.reports.last ?? [])")
check.that("the exhibit changes with it", museum.exhibit == 2)
statue.move(toDistance: 15)
air.advance(by: .seconds(10))
check.that("all far: dismissed", museum.exhibit == nil, "\(museum.reports.last ?? [])")

air.device.position = .distance(100_000)
air.advance(by: .seconds(60))
check.that("exit stops ranging", museum.locationManager.rangedRegions.isEmpty && museum.beaconsToRange.isEmpty)
let count = museum.reports.count
air.advance(by: .seconds(5))
check.that("the reports end", museum.reports.count == count)
air.device.position = .distance(0)
air.advance(by: .seconds(2))
check.that("another visit ranges again", museum.reports.count > count)

// 'Turning an iOS device into an iBeacon device' describes the ranging results when a transmitter changes its address.
air.device.position = .distance(-1_000)
air.advance(by: .seconds(60))
air.device.position = .distance(1_000)
let phone = air.place(SimulatedBeacon(uuid, minor: 4, at: 1_001))
air.advance(by: .seconds(5))
check.that("a phone is one beacon", museum.reports.last?.map(\.proximity) == [.near], "\(museum.reports.last ?? [])")
phone.changeAddress()
let rotation = museum.reports.count
air.advance(by: .seconds(12))
let since = museum.reports.suffix(from: rotation)
check.that("a rotating transmitter gives two beacons", since.contains { $0.count == 2 })
check.that(
    "the old one is unknown within 2 s",
    since.dropFirst().prefix(7).allSatisfy { $0.map(\.proximity) == [.near, .unknown] },
    "\(since.map { $0.map(\.proximity) })")
check.that(
    "the old one is gone within 10 s", since.dropFirst(9).allSatisfy { $0.map(\.proximity) == [.near] },
    "\(since.map { $0.map(\.proximity) })")
check.finish()
