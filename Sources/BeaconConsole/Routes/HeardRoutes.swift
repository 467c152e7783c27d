import BeaconGateway
import BeaconModel
import Hummingbird

/// The route of the beacons on the air, for lists to choose from.
struct HeardRoutes: Sendable {
    let gateway: Gateway

    private struct Heard: Encodable, Sendable {
        var time: Double
        var beacons: [HeardBeaconValue]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "beacons/heard") { request, _ in
            let seconds = try request.number("seconds", 1...600) ?? 10
            // Ask only for the headers. The radio scans only for clients that read.
            guard request.method != .head else { return Heard(time: 0, beacons: []) }
            guard let beacons = await gateway.heardBeacons(within: seconds) else {
                throw Problem(.tooManyRequests, "too many clients are ranging beacons; close another window")
            }
            return Heard(time: await gateway.newestTime.seconds, beacons: beacons)
        }
    }
}
