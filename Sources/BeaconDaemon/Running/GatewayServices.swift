import BeaconConsole
import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconMQTT
import BeaconMonitoring
import BeaconRelay
import Logging
import ServiceLifecycle

/// The service that monitors until all sources have ended or the daemon shuts down.
///
/// If the sources end by themselves, it first finishes launches and deliveries, for a limited time.
struct GatewayRun: Service {
    let gateway: Gateway
    let launches: LaunchAgent
    let rules: RuleEngine
    let consumer: RuleConsumer?
    let delivery: DeliveryService<ContinuousClock>?
    let linger: Duration
    let logger: Logger

    func run() async {
        await withGracefulShutdownHandler {
            await gateway.run()
        } onGracefulShutdown: {
            Task { await gateway.stop() }
        }
        // A daemon with a console but no source waits for data from others, and a fleet's machine for adverts from
        // others.
        if await gateway.runsWithoutSources { try? await gracefulShutdown() }
        guard !Task.isShuttingDownGracefully else { return }
        let summary = await gateway.closingSummary
        logger.notice("\(summary)")
        await cancelWhenGracefulShutdown {
            await launches.finish()
            await consumer?.finish()
            await rules.finish()
            await drain()
        }
    }

    /// Waits until everything that can be delivered is delivered, within the time limit.
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

/// The service that delivers until the daemon shuts down.
///
/// It then waits for the answers to requests in progress, but only for a short time: a receiver may hang.
struct DeliveryRun: Service {
    let delivery: DeliveryService<ContinuousClock>

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            group.addTask {
                guard (try? await gracefulShutdown()) != nil else { return }
                delivery.shutdown()
                try? await Task.sleep(for: GatewayDaemon.deliveryGrace)
            }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The service that sends diagnostics of the gateway to destinations.
struct DiagnosticsRun: Service {
    /// The time between two reports. Destinations publish less often.
    static let interval = Duration.seconds(10)

    /// Returns the functions of the destinations that currently show diagnostics.
    let receivers: @Sendable () -> [@Sendable (GatewayDiagnostics) -> Void]
    let statistics: @Sendable () -> GatewayStatistics
    let delivery: DeliveryService<ContinuousClock>?
    let health: GatewayHealth?
    let gateway: Gateway

    func run() async {
        await cancelWhenGracefulShutdown {
            var (before, time) = (statistics(), ContinuousClock.now)
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let (now, end) = (statistics(), ContinuousClock.now)
                defer { (before, time) = (now, end) }
                let receivers = receivers()
                guard !receivers.isEmpty else { continue }
                let waiting = (try? await delivery?.status())?.reduce(0) { $0 + $1.waiting } ?? 0
                let diagnostics = GatewayDiagnostics(
                    now, since: before, end - time, hears: await gateway.hears, waiting: waiting,
                    problems: await health?.problems() ?? [], receivers: await gateway.receiverDiagnostics)
                for receive in receivers { receive(diagnostics) }
            }
        }
    }
}

/// The service that takes part in a fleet until the daemon shuts down, and then releases its share.
struct FleetRun: Service {
    let fleet: FleetMember

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await fleet.run() }
    }
}

/// The service that looks for terminated applications until the daemon shuts down, and then ends its programs.
struct LaunchRun: Service {
    let agent: LaunchAgent
    let rules: RuleEngine
    let gateway: Gateway

    func run() async {
        await cancelWhenGracefulShutdown { await agent.run(gateway) }
        // Without registries, the service still runs until the shutdown, as the others do.
        try? await gracefulShutdown()
        await agent.stop()
        await rules.stop()
    }
}
