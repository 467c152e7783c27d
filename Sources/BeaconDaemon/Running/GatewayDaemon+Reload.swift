import BeaconConsole
import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconMonitoring
import BeaconSupport
import Foundation
import Logging

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
        let before = parts.withLock { $0 }
        let configuration = configuration.continuing(before.configuration)
        if let reason = reasonForStart(before.configuration, configuration) { return reason }
        guard let state, let stateFolder else { return "--dry-run" }
        let isProxyKept = before.configuration.proxy == configuration.proxy
        guard await gateway.canContinue(with: configuration, reopeningSources: !isProxyKept) else { return "sources" }

        var next = before
        next.configuration = configuration
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

        // The console's changes until now are in it; later changes start from this configuration.
        let revision = state.items.revision.withLock { $0 }
        let whole = Self.adding(
            Self.items(of: state, configuration, logger: logger), to: configuration, logger: logger)
        current.withLock { $0 = configuration }
        parts.withLock { [next] in $0 = next }
        let renewed = Set(configuration.destinations.map(\.name)).subtracting(kept)
        if !isProxyKept { await slots.proxy.replace(with: nil) }
        await gateway.reload(
            GatewayReload(
                base: configuration, configuration: whole, revision: revision, destinations: next.destinations,
                renewed: renewed, proxy: next.proxy, reopensSources: !isProxyKept,
                broadcast: next.web == nil ? nil : broadcast))
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
        if old.fleet != nil || new.fleet != nil { return "fleet" }
        if old.outbox.path != new.outbox.path { return "outbox.path" }
        if old.calibrations != new.calibrations { return "calibration" }
        if old.launch.applications != new.launch.applications { return "applications" }
        return nil
    }

    /// Creates another console, or none if the configuration has none.
    func replaceConsole(in parts: inout Parts, _ state: GatewayState) {
        parts.web = nil
        guard let settings = parts.configuration.web, let consumer else { return }
        parts.web = WebServer(
            settings: settings, gateway: gateway, rules: rules, delivery: delivery, current: current,
            consumer: consumer, state: state, broadcast: broadcast, fleet: fleet, logger: logger,
            sessions: WebSessions(tokenHash: settings.tokenHash, access: state.access), reload: reloadAction)
    }
}
