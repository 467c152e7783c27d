import BeaconGateway
import Hummingbird

/// The route of the fleet that the machine is part of.
struct FleetRoutes: Sendable {
    /// The machine's part in a fleet; nil for none.
    let fleet: FleetMember?

    func add(to router: InterfaceRouter) {
        router.on(
            .get, "fleet",
            Operation(
                "getFleet", .fleet, "Get the fleet as this machine sees it",
                "The fleet, also where this machine is not connected.", errors: [.noFleet])
        ) { _, _ in
            guard let fleet else {
                throw Problem(
                    .notFound, "this machine is in no fleet; write \"fleet: nats://HOST\" into its configuration")
            }
            return await fleet.overview()
        }
    }
}
