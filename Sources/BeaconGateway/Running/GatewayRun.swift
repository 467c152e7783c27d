import BeaconDelivery
import Logging
import ServiceLifecycle

/// Watches until all sources have ended or the daemon is to end. Where the sources have ended by themselves, what they led
/// to is brought to its end first, for a limited time.
struct GatewayRun: Service {
    let gateway: Gateway
    let launches: LaunchAgent
    let delivery: DeliveryService<ContinuousClock>?
    let linger: Duration
    let logger: Logger

    func run() async {
        await withGracefulShutdownHandler {
            await gateway.run()
        } onGracefulShutdown: {
            Task { await gateway.stop() }
        }
        guard !Task.isShuttingDownGracefully else { return }
        await cancelWhenGracefulShutdown {
            await launches.finish()
            await drain()
        }
    }

    /// Waits until nothing waits any more that can be delivered, but no longer than is allowed.
    private func drain() async {
        guard let delivery else { return }
        let deadline = ContinuousClock.now + linger
        while ContinuousClock.now < deadline, !Task.isCancelled {
            guard let status = try? await delivery.status() else { return }
            if status.allSatisfy({ $0.waiting == 0 }) { return }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
