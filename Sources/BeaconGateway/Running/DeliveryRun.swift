import BeaconDelivery
import ServiceLifecycle

/// Delivers until the daemon is to end, and then until the requests on their way have been answered.
struct DeliveryRun: Service {
    let delivery: DeliveryService<ContinuousClock>

    func run() async {
        await withGracefulShutdownHandler {
            await delivery.run()
        } onGracefulShutdown: {
            delivery.shutdown()
        }
    }
}
