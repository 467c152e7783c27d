import BeaconGateway
import Hummingbird

/// The route of the machine's fleet.
struct FleetRoutes: Sendable {
    /// The machine's part in a fleet, or nil without one.
    let fleet: FleetMember?

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "fleet") { _, _ in
            guard let fleet else {
                throw Problem(
                    .notFound, "this machine is not in a fleet; add \"fleet: nats://HOST\" to its configuration")
            }
            return await fleet.overview()
        }
    }
}
