public import BeaconDelivery
import BeaconSupport
import CoreMetrics
import Foundation
public import Logging
public import ServiceLifecycle
public import UnixSignals

/// The daemon's services, made from a configuration: sources, policy, outbox, destinations, launches.
public struct GatewayDaemon: Sendable {
    /// The handling of notifications.
    public enum Mode: Sendable {
        /// They are stored in the outbox and delivered.
        case deliver
        /// They are handed to a function as lines of JSON, and nothing is sent, stored or started.
        case dryRun(@Sendable ([UInt8]) -> Void)
    }

    /// The time that a graceful shutdown may take before the daemon is cancelled. What is not delivered by then waits
    /// in the outbox.
    public static let shutdownTime = Duration.seconds(15)

    /// The time that requests under way may take at a shutdown before they are given up. They are repeated at the next
    /// start.
    public static let deliveryGrace = Duration.seconds(3)

    private let gateway: Gateway
    private let launches: LaunchAgent
    private let outbox: Outbox?
    private let delivery: DeliveryService<ContinuousClock>?
    private let published: Locked<GatewayStatistics>
    private let history: EventHistory?
    private let web: WebServer?
    private let shutdown = Locked(ShutdownRequest())
    private let logger: Logger

    /// A request to shut down, and the group that it concerns, whichever comes first.
    private struct ShutdownRequest {
        var group: ServiceGroup?
        var isMade = false
    }

    /// Creates a daemon, which ``run(linger:signals:companions:)`` starts, and opens its outbox.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - mode: the handling of notifications.
    ///   - logger: the log.
    /// - Throws: the error of a destination, `OutboxError`.
    public init(_ configuration: GatewayConfiguration, mode: Mode = .deliver, logger: Logger) throws {
        self.logger = logger
        var stateFolder: URL?
        if case .deliver = mode {
            stateFolder = URL(fileURLWithPath: configuration.outbox.path).deletingLastPathComponent()
        }
        let destinations = try configuration.destinations.map {
            try ConfiguredDestination($0, in: configuration, stateFolder: stateFolder, logger: logger)
        }
        published = Locked(GatewayStatistics(sources: configuration.sources.map { .init(name: $0.name) }))
        let writer: any NotificationWriter
        var presence: PresenceFile?
        switch mode {
        case .dryRun(let print):
            outbox = nil
            delivery = nil
            writer = DryRunWriter(destinations: destinations, print: print)
            launches = LaunchAgent(LaunchSettings(), registry: nil, logger: logger)
        case .deliver:
            presence = PresenceFile(besideOutbox: configuration.outbox.path)
            launches = LaunchAgent(
                configuration.launch,
                registry: configuration.launch.applications == nil ? nil : ApplicationRegistry(), logger: logger)
            if destinations.isEmpty {
                outbox = nil
                delivery = nil
                writer = DiscardingWriter()
            } else {
                let outbox = try Outbox(
                    file: URL(fileURLWithPath: configuration.outbox.path),
                    destinations: destinations.map(\.destination.name), limits: OutboxLimits(configuration.outbox),
                    logger: logger)
                let delivery = DeliveryService(
                    outbox: outbox, destinations: destinations.map(\.destination), logger: logger)
                self.outbox = outbox
                self.delivery = delivery
                writer = OutboxWriter(delivery: delivery)
            }
        }
        let broadcast = EventBroadcast()
        if let settings = configuration.web, presence != nil {
            history = EventHistory(
                file: URL(fileURLWithPath: configuration.outbox.path).appendingPathExtension("history.sqlite"),
                limits: EventHistory.Limits(age: settings.historyAge, entries: settings.historyEntries),
                broadcast: broadcast, logger: logger)
        } else {
            history = nil
        }
        gateway = Gateway(
            configuration, destinations: destinations, writer: writer, presence: presence, launches: launches,
            published: published, logger: logger, history: history, broadcast: history == nil ? nil : broadcast)
        if let settings = configuration.web, let history {
            web = WebServer(
                settings: settings, gateway: gateway, launches: launches, delivery: delivery,
                configuration: configuration, history: history, broadcast: broadcast, logger: logger,
                sessions: WebSessions.sessions(for: settings.tokenHash))
        } else {
            web = nil
        }
    }

    /// Has the metrics of this process collected, for the console's interface to give them. It is to be called once, before
    /// anything is counted.
    public static func collectMetrics() { MetricsSystem.bootstrap(PrometheusMetrics.shared) }

    /// Runs until a signal requests shutdown or all sources have ended.
    ///
    /// - Parameters:
    ///   - linger: how long deliveries continue once all sources have ended.
    ///   - signals: the signals that request a graceful shutdown.
    ///   - companions: services that run as long, and are shut down first.
    /// - Throws: what a companion throws.
    public func run(
        linger: Duration, signals: [UnixSignal] = [.sigterm, .sigint], companions: [any Service] = []
    ) async throws {
        // They end in the reverse order: first the sources, then launches, then deliveries.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let delivery { services.append(.init(service: DeliveryRun(delivery: delivery))) }
        services.append(.init(service: LaunchRun(agent: launches, gateway: gateway)))
        services.append(
            .init(
                service: GatewayRun(
                    gateway: gateway, launches: launches, delivery: delivery, linger: linger, logger: logger),
                successTerminationBehavior: .gracefullyShutdownGroup))
        if let web { services.append(.init(service: web, successTerminationBehavior: .ignore)) }
        services += companions.map { .init(service: $0) }
        // The group's own log is of interest only from warnings on.
        var groupLogger = logger
        groupLogger.logLevel = max(logger.logLevel, .warning)
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: signals, logger: groupLogger)
        configuration.maximumGracefulShutdownDuration = Self.shutdownTime
        let group = ServiceGroup(configuration: configuration)
        let isDue = shutdown.withLock { request in
            request.group = group
            return request.isMade
        }
        if isDue { await group.triggerGracefulShutdown() }
        try await group.run()
    }

    /// Has ``run(linger:signals:companions:)`` end in good order, as a signal does, also before it was called.
    public func requestShutdown() async {
        let group = shutdown.withLock { request in
            request.isMade = true
            return request.group
        }
        await group?.triggerGracefulShutdown()
    }

    /// Closes the outbox, which cannot be used afterwards.
    public func close() async {
        await outbox?.close()
        await history?.close()
    }

    /// The statistics so far.
    public var statistics: GatewayStatistics { published.withLock { $0 } }

    /// The number of programs and applications that were started.
    public var launchCount: Int {
        get async { await launches.started }
    }

    /// Returns the status of the destinations' queues; none in a dry run.
    public func queues() async -> [QueueStatus] { (try? await delivery?.status()) ?? [] }
}

extension OutboxLimits {
    /// Creates the configuration from the settings, with the defaults for those that are not set.
    fileprivate init(_ settings: OutboxSettings) {
        self.init()
        if let age = settings.maximumAge { maximumAge = age }
        if let count = settings.maximumEntries { maximumEntries = count }
        if let bytes = settings.maximumBytes { maximumBytes = Int(bytes) }
    }
}
