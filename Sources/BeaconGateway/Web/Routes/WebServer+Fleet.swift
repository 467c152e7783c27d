import Hummingbird

/// The fleet that the machine is part of.
extension WebServer {
    func addFleet(to router: RouterGroup<WebContext>) {
        router.get("fleet") { _, _ in
            guard let fleet else {
                throw Problem(
                    .notFound, "this machine is in no fleet; write \"fleet: nats://HOST\" into its configuration")
            }
            return try Response.json(await fleet.overview())
        }
    }
}
