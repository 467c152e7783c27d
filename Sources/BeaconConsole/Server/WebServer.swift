package import BeaconDelivery
package import BeaconGateway
package import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
import ServiceLifecycle

/// The context of a request.
struct WebContext: RequestContext {
    /// The largest body of a request in bytes, and the largest body of a request that needs no token.
    static let largestBody = 64 << 10
    static let largestOpenBody = 4 << 10

    var coreContext: CoreRequestContextStorage
    var maxUploadSize: Int { Self.largestBody }

    /// The plain address of the other end of the connection, or nil without one.
    let remoteAddress: String?

    /// The plain address that the connection came to, or nil without one.
    let localAddress: String?

    /// True for a client on this machine.
    var isLocal: Bool { WebSettings.isLocal(remoteAddress, to: localAddress) }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress?.plainAddress
        localAddress = source.channel.localAddress?.plainAddress
    }
}

/// The service that answers browsers and programs while beacond runs.
///
/// If it cannot listen because another program uses the port, beacond continues without it and tries again.
package struct WebServer: Service {
    /// The time between two attempts to listen.
    private static let pause = Duration.seconds(5)

    /// The time that running requests have when beacond ends.
    private static let grace = Duration.seconds(1)

    let settings: WebSettings
    let gateway: Gateway
    let rules: RuleEngine
    let delivery: DeliveryService<ContinuousClock>?
    let current: CurrentConfiguration
    let consumer: RuleConsumer
    let state: GatewayState
    let broadcast: EventBroadcast
    /// The machine's part in a fleet, or nil without one.
    let fleet: FleetMember?
    let logger: Logger
    let sessions: WebSessions
    /// Reads the configuration file again, or uses the given configuration.
    let reload: @Sendable (GatewayConfiguration?) -> Void
    /// Uses a configuration with the console's items, and another one of the file if that has changed.
    let use: @Sendable (GatewayConfiguration, GatewayConfiguration?) async throws -> Void
    /// True when beacond is ending.
    let isEnding = Locked(false)
    let places = ConnectionPlaces()
    let started = Date()

    /// Creates the service for a gateway.
    ///
    /// - Parameters:
    ///   - settings: the address, and the rules for clients.
    ///   - gateway: the gateway.
    ///   - rules: the rule engine.
    ///   - delivery: the destinations.
    ///   - current: the configuration in use.
    ///   - consumer: the consumer of events for the rules, with the history.
    ///   - state: the state that survives restarts.
    ///   - broadcast: the newest events.
    ///   - fleet: the machine's part in a fleet, or nil without one.
    ///   - logger: the log.
    ///   - sessions: the signed-in browsers.
    ///   - reload: reads the configuration file again, or uses the given configuration.
    ///   - use: uses a configuration with the console's items, and another one of the file if that has changed; nil
    ///     for the gateway alone, which does not replace destinations.
    package init(
        settings: WebSettings, gateway: Gateway, rules: RuleEngine, delivery: DeliveryService<ContinuousClock>?,
        current: CurrentConfiguration, consumer: RuleConsumer, state: GatewayState, broadcast: EventBroadcast,
        fleet: FleetMember?, logger: Logger, sessions: WebSessions,
        reload: @escaping @Sendable (GatewayConfiguration?) -> Void,
        use: (@Sendable (GatewayConfiguration, GatewayConfiguration?) async throws -> Void)? = nil
    ) {
        (self.settings, self.gateway, self.rules, self.delivery) = (settings, gateway, rules, delivery)
        (self.current, self.consumer, self.state, self.broadcast) = (current, consumer, state, broadcast)
        (self.fleet, self.logger, self.sessions, self.reload) = (fleet, logger, sessions, reload)
        self.use = use ?? { await gateway.apply($0, base: $1) }
    }

    package func run() async {
        if let (beacon, frame) = await AdvertisingRoutes.stored(in: state) { await gateway.advertise(beacon, frame) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await beat() }
            group.addTask { await listen() }
            group.addTask {
                guard (try? await gracefulShutdown()) != nil else { return }
                // Ends streams and their connections. Slower requests have the grace period.
                isEnding.withLock { $0 = true }
                state.people.newMessages.signal()
                broadcast.finish()
                await gateway.endListeners()
                try? await Task.sleep(for: Self.grace)
            }
            await group.next()
            group.cancelAll()
        }
        broadcast.finish()
    }

    /// Sends heartbeats to listeners.
    private func beat() async {
        while (try? await Task.sleep(for: EventStreamResponse.heartbeat)) != nil {
            broadcast.send(.heartbeat)
            await gateway.sendHeartbeats()
        }
    }

    private func listen() async {
        var isReported = false
        while !Task.isCancelled {
            do {
                try await application().run()
                return
            } catch is CancellationError {
                return
            } catch {
                if !isReported {
                    let reason = await settings.obstacle()?.description ?? "\(error)"
                    logger.error(
                        "the console cannot listen on \(settings.host), port \(settings.port): \(reason); beacond tries again and does everything else"
                    )
                }
                isReported = true
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func application() throws -> some ApplicationProtocol {
        // Hummingbird's own messages are about single clients. This type logs everything that matters to operators.
        var quiet = logger
        quiet.logLevel = .critical
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionGuard(places, settings, logger)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100)))
        let server = try settings.tls().map { try .tls(http, tlsConfiguration: $0) } ?? http
        return Application(
            router: router(), server: server,
            configuration: .init(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: { channel in
                var settings = settings
                settings.port = channel.localAddress?.port ?? settings.port
                logger.notice("the console is at \(settings.address)")
            },
            logger: quiet)
    }

    /// The paths of health checks in the form of ``key(_:)``: readiness, and liveness.
    static let healthPaths: Set = ["v1/ready", "v1/live"]

    /// Returns the normalized form of a path.
    static func key(_ path: String) -> String { path.split(separator: "/").joined(separator: "/") }

    /// Returns the routes. Each group is a type with the parts that it needs. `openapi.json` describes them.
    func router() -> Router<WebContext> {
        let router = Router(context: WebContext.self, options: .autoGenerateHeadEndpoints)
        let methods = Locked<[RoutePattern]>([])
        router.addMiddleware {
            ProblemMiddleware(methods: methods, logger: logger)
            RequestGuard(settings: settings, sessions: sessions)
        }
        ConsoleRoutes().add(to: router)
        let history = consumer.history
        MetricsRoutes(
            gateway: gateway, delivery: delivery, broadcast: broadcast, store: history.store, places: places
        ).add(to: router.group())
        let v1 = router.group("v1")
        let changes = ItemChanges(gateway: gateway, rules: rules, state: state, fleet: fleet, use: use)
        let diagnoses = DiagnosisCache()
        SessionRoutes(settings: settings, current: current, sessions: sessions, state: state).add(to: v1)
        StatusRoutes(
            settings: settings, gateway: gateway, current: current,
            health: GatewayHealth(
                gateway, consumer: consumer, delivery: delivery, current: current, fleet: fleet),
            broadcast: broadcast, diagnoses: diagnoses, started: started
        ).add(to: v1)
        SensingRoutes(gateway: gateway).add(to: v1)
        HeardRoutes(gateway: gateway).add(to: v1)
        ReplayRoutes(gateway: gateway).add(to: v1)
        TeachingRoutes(gateway: gateway, changes: changes, logger: logger).add(to: v1)
        FleetRoutes(fleet: fleet).add(to: v1)
        EventRoutes(history: history, state: state, broadcast: broadcast).add(to: v1)
        AdvertisingRoutes(gateway: gateway, state: state).add(to: v1)
        DeliveryRoutes(gateway: gateway, delivery: delivery, current: current, state: state).add(to: v1)
        IntakeRoutes(gateway: gateway, history: history, state: state, current: current, isEnding: isEnding).add(to: v1)
        ItemRoutes(gateway: gateway, changes: changes).add(to: v1)
        SecretRoutes(gateway: gateway, state: state, reload: reload, logger: logger).add(to: v1)
        ConnectionRoutes(gateway: gateway, changes: changes, diagnoses: diagnoses, isEnding: isEnding).add(to: v1)
        ReceiverRoutes(gateway: gateway, changes: changes, broadcast: broadcast).add(to: v1)
        TakeOverRoutes(changes: changes, current: current, logger: logger).add(to: v1)
        RuleRoutes(
            gateway: gateway, rules: rules, state: state, history: history, broadcast: broadcast, changes: changes
        ).add(to: v1)
        PeopleRoutes(state: state, current: current).add(to: v1)
        PlanRoutes(gateway: gateway, state: state, broadcast: broadcast).add(to: v1)
        ForecastRoutes(gateway: gateway, state: state).add(to: v1)
        BackupRoutes(settings: settings, current: current, store: state.store).add(to: v1)
        SetupRoutes(settings: settings, current: current, diagnoses: diagnoses, reload: reload, logger: logger).add(
            to: v1)
        SearchRoutes(current: current, isEnding: isEnding).add(to: v1)
        let patterns = RoutePattern.patterns(router.routes.map { ($0.path.description, $0.method) })
        methods.withLock { $0 = patterns }
        return router
    }
}

/// The configuration of the file in use. A reload replaces it.
package typealias CurrentConfiguration = Locked<GatewayConfiguration>

extension CurrentConfiguration {
    /// The current configuration.
    var value: GatewayConfiguration { withLock { $0 } }
}
