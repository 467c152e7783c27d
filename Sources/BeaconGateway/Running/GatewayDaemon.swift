public import BeaconDelivery
import BeaconPrograms
import BeaconRadio
import BeaconService
import Foundation
public import Logging
public import ServiceLifecycle
public import UnixSignals

/// The daemon's inside, put together from a configuration: sources, policy, outbox, destinations, launches.
public struct GatewayDaemon: Sendable {
    /// What becomes of notifications.
    public enum Mode: Sendable {
        /// They are kept and delivered.
        case deliver
        /// They are handed to a function as lines of JSON, and nothing is sent, kept or started.
        case dryRun(@Sendable ([UInt8]) -> Void)
    }

    /// How long it may take to end once it is to, before it is ended in the middle of things. What is not delivered by then
    /// waits in the outbox.
    public static let shutdownTime = Duration.seconds(15)

    private let gateway: Gateway
    private let launches: LaunchAgent
    private let outbox: Outbox?
    private let delivery: DeliveryService<ContinuousClock>?
    private let published: Locked<GatewayStatistics>
    private let logger: Logger

    /// A daemon that does not run yet. Its outbox is open.
    ///
    /// - Parameters:
    ///   - configuration: what to do.
    ///   - mode: what becomes of notifications.
    ///   - logger: where it logs.
    /// - Throws: what is wrong with a destination, `OutboxError`.
    public init(_ configuration: GatewayConfiguration, mode: Mode = .deliver, logger: Logger) throws {
        self.logger = logger
        var stateFolder: URL?
        if case .deliver = mode {
            stateFolder = URL(fileURLWithPath: configuration.outbox.path).deletingLastPathComponent()
        }
        let addressees = try configuration.destinations.map {
            try Addressee($0, in: configuration, stateFolder: stateFolder, logger: logger)
        }
        published = Locked(GatewayStatistics(sources: configuration.sources.map { .init(name: $0.name) }))
        let taker: any NotificationTaker
        var presence: PresenceFile?
        switch mode {
        case .dryRun(let print):
            outbox = nil
            delivery = nil
            taker = DryRun(addressees: addressees, print: print)
            launches = LaunchAgent(LaunchSettings(), registries: [], logger: logger)
        case .deliver:
            presence = PresenceFile(besideOutbox: configuration.outbox.path)
            launches = LaunchAgent(
                configuration.launch, registries: Self.registries(configuration.launch, logger), logger: logger)
            if addressees.isEmpty {
                outbox = nil
                delivery = nil
                taker = NoTaker()
            } else {
                let outbox = try Outbox(
                    file: URL(fileURLWithPath: configuration.outbox.path),
                    destinations: addressees.map(\.destination.name), limits: OutboxLimits(configuration.outbox),
                    logger: logger)
                let delivery = DeliveryService(
                    outbox: outbox, destinations: addressees.map(\.destination), logger: logger)
                self.outbox = outbox
                self.delivery = delivery
                taker = OutboxTaker(delivery: delivery)
            }
        }
        gateway = Gateway(
            configuration, addressees: addressees, taker: taker, presence: presence, launches: launches,
            published: published, logger: logger)
    }

    /// Runs until it is to end, by the signals or because all sources have ended.
    ///
    /// - Parameters:
    ///   - linger: how long to go on delivering once all sources have ended.
    ///   - signals: what ends it in good order.
    ///   - companions: services that run as long, and are ended first.
    /// - Throws: what a companion throws.
    public func run(
        linger: Duration, signals: [UnixSignal] = [.sigterm, .sigint], companions: [any Service] = []
    ) async throws {
        // They end in the reverse order: first nobody hears any more, then nothing is started, then nothing is sent.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let delivery { services.append(.init(service: DeliveryRun(delivery: delivery))) }
        services.append(.init(service: LaunchRun(agent: launches, gateway: gateway)))
        services.append(
            .init(
                service: GatewayRun(
                    gateway: gateway, launches: launches, delivery: delivery, linger: linger, logger: logger),
                successTerminationBehavior: .gracefullyShutdownGroup))
        services += companions.map { .init(service: $0) }
        // What the group does is its own affair, unless it is worth a warning.
        var groupLogger = logger
        groupLogger.logLevel = max(logger.logLevel, .warning)
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: signals, logger: groupLogger)
        configuration.maximumGracefulShutdownDuration = Self.shutdownTime
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Closes the outbox. Nothing more can be asked of it then.
    public func close() async { await outbox?.close() }

    /// What it has done so far.
    public var statistics: GatewayStatistics { published.withLock { $0 } }

    /// How many programs and applications it has started.
    public var launchCount: Int {
        get async { await launches.started }
    }

    /// How the destinations' queues stand; none in a dry run.
    public func queues() async -> [QueueStatus] { (try? await delivery?.status()) ?? [] }

    private static func registries(_ settings: LaunchSettings, _ logger: Logger) -> [ApplicationRegistry] {
        guard let applications = settings.applications else { return [] }
        guard let users = applications.users else { return [ApplicationRegistry.ofThisUser].compactMap { $0 } }
        return users.compactMap { name in
            guard let account = UserAccount(name: name) else {
                logger.error("applications of \(name) are not started: there is no such user")
                return nil
            }
            if account == UserAccount.current { return ApplicationRegistry.ofThisUser }
            return ApplicationRegistry(account: account)
        }
    }
}

extension OutboxLimits {
    /// What the settings say, and else the usual.
    fileprivate init(_ settings: OutboxSettings) {
        self.init()
        if let age = settings.maximumAge { maximumAge = age }
        if let count = settings.maximumEntries { maximumEntries = count }
        if let bytes = settings.maximumBytes { maximumBytes = Int(bytes) }
    }
}
