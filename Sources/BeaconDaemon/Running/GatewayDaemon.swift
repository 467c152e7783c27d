import BeaconConsole
import BeaconDelivery
import BeaconEventStore
import BeaconFleet
import BeaconGateway
import BeaconMQTT
import BeaconMonitoring
import BeaconRelay
import BeaconSupport
import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// The daemon's services, created from a configuration: sources, policy, event store, destinations, launches.
struct GatewayDaemon: Sendable {
    /// The handling of notifications.
    enum Mode: Sendable {
        /// Notifications are stored and delivered.
        case deliver
        /// Notifications are passed to a function as lines of JSON. Nothing is sent, stored or started.
        case dryRun(@Sendable ([UInt8]) -> Void)
    }

    /// The time limit of a graceful shutdown, after which the daemon is cancelled. Undelivered notifications stay in
    /// the event store.
    private static let shutdownTime = Duration.seconds(15)

    /// How long requests in progress may take at a shutdown before they are abandoned. The next start repeats them.
    static let deliveryGrace = Duration.seconds(3)

    private let gateway: Gateway
    private let launches: LaunchAgent
    private let rules: RuleEngine
    private let state: GatewayState?
    private let store: EventStore?
    private let delivery: DeliveryService<ContinuousClock>?
    private let published: Locked<GatewayStatistics>
    private let fleet: FleetMember?
    /// The parts that a reload can replace, and the slots of their services.
    private let parts: Locked<Parts>
    private let slots: Slots
    private let stateFolder: URL?
    private let current: CurrentConfiguration
    private let broadcast: EventBroadcast
    /// The consumer of events for the rules; nil in a dry run.
    private let consumer: RuleConsumer?
    private let reloadAction: @Sendable (GatewayConfiguration?) -> Void
    private let shutdown = Locked(ShutdownRequest())
    private let logger: Logger

    /// The parts that a reload can replace.
    struct Parts: Sendable {
        /// The configuration from the file.
        var configuration: GatewayConfiguration
        var destinations: [ConfiguredDestination]
        var web: WebServer?
        var proxy: ProxyServer?
    }

    /// The slots of services that a reload can replace.
    struct Slots: Sendable {
        var web: ServiceSlot
        var proxy: ServiceSlot
    }

    /// A request to shut down, and the group to shut down. Either can be set first.
    private struct ShutdownRequest {
        var group: ServiceGroup?
        var isMade = false
    }

    /// Creates a daemon and opens its event store; ``run(linger:signals:companions:)`` starts the daemon.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - mode: the handling of notifications.
    ///   - logger: the log.
    ///   - reload: called when the console requests another configuration; nil means to read the file again.
    /// - Throws: the error of a destination, `EventStoreError`, an error of the proxy.
    init(
        _ configuration: GatewayConfiguration, mode: Mode = .deliver, logger: Logger,
        reload: @escaping @Sendable (GatewayConfiguration?) -> Void = { _ in }
    ) throws {
        self.logger = logger
        reloadAction = reload
        var stateFolder: URL?
        if case .deliver = mode {
            stateFolder = URL(fileURLWithPath: configuration.outbox.path).deletingLastPathComponent()
        }
        self.stateFolder = stateFolder
        let destinations: [ConfiguredDestination]
        func create(_ configuration: GatewayConfiguration) throws -> [ConfiguredDestination] {
            try configuration.destinations.map {
                try ConfiguredDestination($0, in: configuration, stateFolder: stateFolder, logger: logger)
            }
        }
        let writer: any EventWriter
        var state: GatewayState?
        // A dry run does not join a fleet: no other machine would handle the beacons that it takes.
        var isInFleet = false
        if case .deliver = mode { isInFleet = configuration.fleet != nil }
        let whole = configuration
        let base = isInFleet ? configuration.withoutShared : configuration
        var configuration = base
        var added: [ConfigurationItem] = []
        switch mode {
        case .dryRun(let print):
            destinations = try create(whole)
            store = nil
            delivery = nil
            writer = DryRunWriter(destinations: destinations, print: print)
            launches = LaunchAgent(LaunchSettings(), registry: nil, logger: logger)
            rules = RuleEngine([], logger: logger)
        case .deliver:
            Backup.sweep(besideStore: configuration.outbox.path)
            var settings = EventStoreSettings.gateway
            settings.retention = .init(base.web)
            settings.watch = .seconds(1)
            let store = try EventStore(
                file: URL(fileURLWithPath: base.outbox.path), settings: settings, logger: logger)
            let known = GatewayState(store)
            added = Self.items(of: known, base, logger: logger)
            configuration = Self.adding(
                isInFleet ? added.filter { !$0.isShared } : added, to: base, logger: logger)
            destinations = try create(isInFleet ? whole : configuration)
            state = known
            launches = LaunchAgent(
                configuration.launch,
                registry: configuration.launch.applications == nil ? nil : ApplicationRegistry(), logger: logger)
            let delivery = try DeliveryService(
                store: store, destinations: destinations.map(\.destination),
                limits: configuration.outbox.limits, logger: logger)
            self.store = store
            self.delivery = delivery
            writer = store
            rules = RuleEngine(configuration.launch.rules, trail: known.trail, delivery: delivery, logger: logger)
        }
        published = Locked(GatewayStatistics(sources: configuration.sources.map { .init(name: $0.name) }))
        self.state = state
        let broadcast = EventBroadcast(store)
        self.broadcast = broadcast
        let proxy = try Self.proxy(of: configuration, in: stateFolder, logger: logger)
        let link =
            isInFleet ? configuration.fleet.map { FleetLink(settings: $0, exchange: Self.exchange(of: $0)) } : nil
        gateway = Gateway(
            configuration, destinations: destinations, writer: writer, store: store, state: state, launches: launches,
            rules: rules, base: base, published: published, logger: logger,
            broadcast: state == nil || configuration.web == nil ? nil : broadcast, proxy: proxy, fleet: link,
            journal: state == nil ? nil : Self.journal(of: configuration, logger: logger))
        if let link {
            fleet = FleetMember(
                link.settings, exchange: link.exchange, configuration: whole, items: added, audience: gateway,
                logger: logger)
        } else {
            fleet = nil
        }
        if let store, let state {
            consumer = RuleConsumer(
                history: try EventHistory(store), people: state.people, engine: rules, gateway: gateway,
                broadcast: broadcast, logger: logger)
        } else {
            consumer = nil
        }
        current = Locked(base)
        var parts = Parts(configuration: whole, destinations: destinations, proxy: proxy)
        slots = Slots(
            web: ServiceSlot(nil, logger: logger),
            proxy: ServiceSlot(proxy.map { [gateway] in ProxyRun(proxy: $0, gateway: gateway) }, logger: logger))
        self.parts = Locked(parts)
        if let state {
            replaceConsole(in: &parts, state)
            self.parts.withLock { [parts] in $0 = parts }
        }
    }

    /// Returns the journal of a configuration; nil without one, whose files are deleted.
    private static func journal(of configuration: GatewayConfiguration, logger: Logger) -> Journal? {
        let folder = Journal.folder(besideStore: configuration.outbox.path)
        guard let settings = configuration.journal else {
            JournalFolder.clear(folder)
            return nil
        }
        return Journal(folder: folder, settings: settings, logger: logger)
    }

    /// Returns the proxy of a configuration; nil without one, and in a dry run.
    ///
    /// - Throws: `ProxyError`.
    private static func proxy(
        of configuration: GatewayConfiguration, in stateFolder: URL?, logger: Logger
    ) throws -> ProxyServer? {
        guard var settings = configuration.proxy, let stateFolder else { return nil }
        settings.portsPath = stateFolder.appendingPathComponent("proxy.json").path
        return try ProxyServer(settings) { logger.log(level: $0.isTrouble ? .warning : .info, "\($0)") }
    }

    /// Returns the exchange that connects the machines of a fleet.
    private static func exchange(of settings: FleetSettings) -> any FleetExchange {
        switch settings.transport {
        case .nats(let options): NATSExchange(options, name: settings.name)
        case .local: LocalExchange(LocalExchange.Hub(now: FleetMember.Clock.system.now))
        }
    }

    /// Returns the items that were added in the console.
    private static func items(
        of state: GatewayState, _ base: GatewayConfiguration, logger: Logger
    ) -> [ConfigurationItem] {
        // Without a console, items cannot be removed, so none are used.
        guard base.web != nil else { return [] }
        do {
            return try state.items.allBlocking()
        } catch {
            logger.error("cannot read the items added in the console: \(error); using only the file")
            return []
        }
    }

    /// Returns the configuration of the file with the items from the console.
    private static func adding(
        _ items: [ConfigurationItem], to base: GatewayConfiguration, logger: Logger
    ) -> GatewayConfiguration {
        let configuration = base.adding(items)
        for item in configuration.items {
            guard let fault = item.fault else { continue }
            logger.warning("the \(item.kind.rawValue) \(item.name) of the console is not in use: \(fault)")
        }
        return configuration
    }

    /// Collects the metrics of this process for the console's interface. Call it once, before anything is counted.
    static func collectMetrics() { MetricsSystem.bootstrap(PrometheusMetrics.shared) }

    /// Runs until a signal requests shutdown or all sources have ended.
    ///
    /// - Parameters:
    ///   - linger: how long deliveries continue after all sources have ended.
    ///   - signals: the signals that request a graceful shutdown.
    ///   - companions: services that run as long as the daemon, and shut down first.
    /// - Throws: the error of a companion.
    func run(
        linger: Duration, signals: [UnixSignal] = [.sigterm, .sigint], companions: [any Service] = []
    ) async throws {
        await rules.restore()
        let parts = parts.withLock { $0 }
        // Services that a reload can replace are in slots, which run even while they are empty.
        await slots.web.replace(with: parts.web)
        // Services end in reverse order: first the sources, then launches, then deliveries.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let delivery { services.append(.init(service: DeliveryRun(delivery: delivery))) }
        services.append(.init(service: LaunchRun(agent: launches, rules: rules, gateway: gateway)))
        if let consumer { services.append(.init(service: consumer, successTerminationBehavior: .ignore)) }
        services.append(
            .init(
                service: GatewayRun(
                    gateway: gateway, launches: launches, rules: rules, consumer: consumer, delivery: delivery,
                    linger: linger, logger: logger),
                successTerminationBehavior: .gracefullyShutdownGroup))
        for slot in [slots.web, slots.proxy] {
            services.append(.init(service: slot, successTerminationBehavior: .ignore))
        }
        if let fleet { services.append(.init(service: FleetRun(fleet: fleet))) }
        services.append(
            .init(
                service: DiagnosticsRun(
                    receivers: { [parts = self.parts] in parts.withLock { $0.destinations.compactMap(\.diagnose) } },
                    statistics: { [published] in published.withLock { $0 } }, delivery: delivery,
                    health: consumer.map {
                        GatewayHealth(gateway, consumer: $0, delivery: delivery, current: current, fleet: fleet)
                    }, gateway: gateway),
                successTerminationBehavior: .ignore))
        services += companions.map { .init(service: $0) }
        // Only warnings and errors of the group's own log are of interest.
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

    /// Ends ``run(linger:signals:companions:)`` cleanly, as a signal does, even if it has not been called yet.
    func requestShutdown() async {
        let group = shutdown.withLock { request in
            request.isMade = true
            return request.group
        }
        await group?.triggerGracefulShutdown()
    }

    /// Closes the event store, which cannot be used afterwards, and counts the events that it could not write.
    func close() async {
        // The console refers to this daemon.
        parts.withLock { $0.web = nil }
        await slots.web.replace(with: nil)
        let lost = await store?.close() ?? 0
        published.withLock { $0.lost += lost }
    }

    /// The current statistics.
    var statistics: GatewayStatistics { published.withLock { $0 } }

    /// The number of started programs and applications.
    var launchCount: Int {
        get async { await launches.started + rules.started }
    }

    /// The status of the destinations after the last write; empty in a dry run.
    var queues: [ConsumerStatus] { store?.knownConsumers ?? [] }
}

// Reloads of the configuration while the daemon runs.

extension GatewayDaemon {
    /// Continues with another configuration of the file, if that needs no restart.
    ///
    /// The daemon compares the settings of destinations, sources, the console and the proxy. Parts with equal settings
    /// continue, with their connections. Parts with other settings are replaced, and removed parts end. All state
    /// stays.
    ///
    /// | step | so that |
    /// |---|---|
    /// | create the new parts, and their consumers | a fault changes nothing |
    /// | the gateway applies the configuration, and sends the states to new destinations | no connection lacks them |
    /// | old destinations end before new ones start | no two connections share a client id |
    /// | the proxy and the console are replaced | nothing else waits for browsers |
    ///
    /// - Returns: the setting that needs a restart; nil if the configuration is in use now.
    /// - Throws: the error of a destination, of the event store or of the proxy. The earlier configuration then stays
    ///   in use.
    func reload(_ configuration: GatewayConfiguration) async throws -> String? {
        guard let state else { return "--dry-run" }
        // Changes in the console wait, so that none is lost between reading the items and using them.
        return try await state.items.turn.run {
            let items = Self.items(of: state, configuration, logger: logger)
            return try await use(configuration, Self.adding(items, to: configuration, logger: logger))
        }
    }

    /// Continues with items of the console that have changed. Call it in a turn of the items.
    ///
    /// - Parameters:
    ///   - whole: the configuration with the items.
    ///   - base: the configuration of the file, if that has changed.
    private func use(items whole: GatewayConfiguration, base: GatewayConfiguration?) async throws {
        let before = await gateway.configuration
        let whole = whole.continuing(before)
        if whole.sources == before.sources, whole.destinations == before.destinations {
            if let base { parts.withLock { $0.configuration = base } }
            return await gateway.apply(whole, base: base)
        }
        let base = base ?? parts.withLock { $0.configuration }
        // A restart reads the file and the items again.
        if try await use(base, whole) != nil { reloadAction(nil) }
    }

    /// Switches to a configuration. Call it in a turn of the console's items.
    ///
    /// - Parameters:
    ///   - base: the configuration of the file.
    ///   - whole: the same with the items of the console.
    /// - Returns: the setting that needs a restart; nil if the configuration is in use now.
    private func use(_ base: GatewayConfiguration, _ whole: GatewayConfiguration) async throws -> String? {
        let before = parts.withLock { $0 }
        let earlier = await gateway.configuration
        let (base, configuration) = (base.continuing(earlier), whole.continuing(earlier))
        if let reason = reasonForStart(before.configuration, base) { return reason }
        guard let state, let stateFolder else { return "--dry-run" }
        let isProxyKept = before.configuration.proxy == configuration.proxy
        guard await gateway.canContinue(with: configuration, reopeningSources: !isProxyKept) else { return "sources" }

        var next = before
        next.configuration = base
        var kept: Set<String> = []
        next.destinations = try configuration.destinations.map { settings in
            if let same = before.destinations.lazy.compactMap({ $0.continuing(as: settings) }).first {
                kept.insert(settings.name)
                return same
            }
            return try ConfiguredDestination(settings, in: configuration, stateFolder: stateFolder, logger: logger)
        }
        if !isProxyKept { next.proxy = try Self.proxy(of: configuration, in: stateFolder, logger: logger) }
        let isWebKept = before.configuration.web == configuration.web
        if !isWebKept { replaceConsole(in: &next, state) }
        try delivery?.prepare(next.destinations.map(\.destination))

        current.withLock { $0 = base }
        parts.withLock { [next] in $0 = next }
        let renewed = Set(configuration.destinations.map(\.name)).subtracting(kept)
        if !isProxyKept { await slots.proxy.replace(with: nil) }
        await gateway.reload(
            GatewayReload(
                base: base, configuration: configuration, destinations: next.destinations, renewed: renewed,
                proxy: next.proxy, reopensSources: !isProxyKept, broadcast: next.web == nil ? nil : broadcast))
        try delivery?.update(
            next.destinations.map(\.destination), keeping: kept, limits: configuration.outbox.limits)
        if !isProxyKept, let proxy = next.proxy {
            await slots.proxy.replace(with: ProxyRun(proxy: proxy, gateway: gateway))
        }
        if !isWebKept {
            await store?.setRetention(.init(configuration.web))
            await slots.web.replace(with: next.web)
        }
        return nil
    }

    /// Returns a changed setting that needs a restart; nil without one.
    private func reasonForStart(_ old: GatewayConfiguration, _ new: GatewayConfiguration) -> String? {
        if old.isSetup || new.isSetup { return "the guided start" }
        // The machines of a fleet get configurations from each other.
        if old.fleet != new.fleet { return "fleet" }
        if new.fleet != nil { return "the configuration of a machine of a fleet" }
        if old.outbox.path != new.outbox.path { return "outbox.path" }
        if old.calibrations != new.calibrations { return "calibration" }
        if old.launch.applications != new.launch.applications { return "applications" }
        if old.journal == nil, new.journal != nil { return "journal" }
        return nil
    }

    /// Creates another console, or none if the configuration has none.
    private func replaceConsole(in parts: inout Parts, _ state: GatewayState) {
        parts.web = nil
        guard let settings = parts.configuration.web, let consumer else { return }
        parts.web = WebServer(
            settings: settings, gateway: gateway, rules: rules, delivery: delivery, current: current,
            consumer: consumer, state: state, broadcast: broadcast, fleet: fleet, logger: logger,
            sessions: WebSessions(tokenHash: settings.tokenHash, access: state.access), reload: reloadAction,
            use: { [self] in try await use(items: $0, base: $1) })
    }
}
