import BeaconTestKit
import CoreLocation
import KumulosSDK

// Compiled in one module with Kumulos' recipe, whose class is `MyLocationManagerDelegate`.

extension MyLocationManagerDelegate {
    // The recipe never stops ranging. Apple's article says that this is the place for it.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        guard let region = region as? CLBeaconRegion else { return }
        manager.stopRangingBeacons(in: region)
    }
}

let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
let check = Check()
if CommandLine.arguments.contains("conformance") {
    await check.conforms("KumulosRecipe") { conformance in
        Kumulos.initialize(
            config: KSConfigBuilder(apiKey: "check", secretKey: "secret")
                .setEventSink(ConformanceSink(conformance: conformance)).build())
        return MyLocationManagerDelegate()
    }
    check.finish()
}
let air = SimulatedAir(authorization: .notDetermined)
air.install()

// An app would initialize the SDK when it is launched. Only the address differs from Kumulos' own servers.
let kumulos = KumulosServer()
let address = kumulos.start()
Kumulos.initialize(
    config: KSConfigBuilder(apiKey: "check", secretKey: "secret")
        .setBaseUrlMapping(baseUrlMap: Dictionary(uniqueKeysWithValues: Service.allCases.map { ($0, address) }))
        .build())

/// Returns the minor values of the events at Kumulos, once a number of them has arrived.
func minors(_ count: Int) -> [String] {
    _ = kumulos.wait { kumulos.events.count >= count }
    return kumulos.events.compactMap { ($0["data"] as? [String: Any])?["minor"] as? String }
}

let start = Int64(Date().timeIntervalSince1970 * 1000) - 1
let recipe = MyLocationManagerDelegate()
// Initially a region counts as outside only after the exit time-out.
air.advance(by: .seconds(35))
check.that("permission is requested", recipe.locationManager.authorizationStatus == .authorizedAlways)
check.that("nothing is ranged outside", recipe.locationManager.rangedRegions.isEmpty && kumulos.events.isEmpty)

let till = air.place(SimulatedBeacon(uuid, major: 7, minor: 9, at: 0.2))
air.advance(by: .seconds(1))
check.that("enter starts ranging", recipe.locationManager.rangedRegions.count == 1)
air.advance(by: .seconds(9))
check.that("Kumulos receives it once, not each second", minors(1) == ["9"], "\(minors(1))")
if let request = kumulos.requests.first, let event = request.events.first {
    check.that(
        "it is the request that Kumulos' SDK makes",
        request.method == "POST" && request.path == "/v1/app-installs/\(Kumulos.installId)/events"
            && request.headers["authorization"] == "Basic \(Data("check:secret".utf8).base64EncodedString())"
            && request.headers["content-type"] == "application/json"
            && request.headers["accept"] == "application/json", "\(request)")
    let name = event["uuid"] as? String ?? ""
    let time = event["timestamp"] as? Int64 ?? 0
    check.that(
        "it is an event of Kumulos' SDK",
        Set(event.keys) == ["type", "uuid", "timestamp", "data", "userId"]
            && event["type"] as? String == "k.engage.beaconEnteredProximity"
            && event["userId"] as? String == Kumulos.installId && UUID(uuidString: name) != nil
            && name == name.lowercased() && (start...start + 600_000).contains(time), "\(event)")
    check.that(
        "it has the beacon and its proximity",
        event["data"] as? NSDictionary
            == ["type": 1, "uuid": uuid, "major": "7", "minor": "9", "proximity": 1] as NSDictionary, "\(event)")
}
air.place(SimulatedBeacon(uuid, major: 7, minor: 10, at: 2))
air.advance(by: .seconds(5))
check.that("a second beacon is reported too", minors(2) == ["9", "10"], "\(minors(2))")

till.remove()
air.device.position = .distance(100_000)
air.advance(by: .seconds(60))
check.that("exit stops ranging", recipe.locationManager.rangedRegions.isEmpty)
air.device.position = .distance(0)
air.advance(by: .seconds(3))
check.that("another visit ranges again", recipe.locationManager.rangedRegions.count == 1)
check.that("it is reported again", minors(3) == ["9", "10", "10"], "\(minors(3))")
check.that("each event has its own id", Set(kumulos.events.compactMap { $0["uuid"] as? String }).count == 3)
check.finish()
