import BeaconEngine
import BeaconPrograms
import BeaconService
import Foundation
import Logging

/// Starts what is to be started for events: what the configuration's rules say, and applications that monitor regions by
/// themselves and do not run.
actor LaunchAgent {
    /// How often it looks which applications are registered and run. One that ends is watched for after this at the latest.
    static let lookInterval = Duration.seconds(2)

    private let settings: LaunchSettings
    private let registries: [ApplicationRegistry]
    private let rules: [RuleRunner]
    private let logger: Logger
    private var launchers: [ApplicationKey: ApplicationLauncher] = [:]
    private var sleeping: [ApplicationKey: SleepingApplication] = [:]
    private var problems: [String: String] = [:]
    private var isStopped = false

    /// An agent that has started nothing yet.
    ///
    /// - Parameters:
    ///   - settings: what to start.
    ///   - registries: where applications are registered.
    ///   - logger: where it logs, and where programs' output goes.
    init(_ settings: LaunchSettings, registries: [ApplicationRegistry], logger: Logger) {
        self.settings = settings
        self.registries = registries
        self.logger = logger
        rules = settings.rules.map { RuleRunner($0, logger: logger) }
    }

    /// How many programs and applications were started.
    var started: Int {
        get async {
            var count = 0
            for rule in rules { count += await rule.counts.started }
            for launcher in launchers.values { count += await launcher.started }
            return count
        }
    }

    // MARK: - Applications

    /// Looks which applications want to be started, and has the gateway watch for those that do not run, again and again
    /// until its task is cancelled.
    func run(_ gateway: Gateway) async {
        guard settings.applications != nil, !registries.isEmpty else { return }
        while !Task.isCancelled {
            await look(gateway)
            try? await Task.sleep(for: Self.lookInterval)
        }
    }

    private func look(_ gateway: Gateway) async {
        var found: [ApplicationKey: SleepingApplication] = [:]
        for registry in registries {
            let result = registry.look()
            for application in result.sleeping { found[application.key] = application }
            tell(result.problems, of: registry)
        }
        for (key, application) in sleeping where found[key] == nil {
            logger.debug("\(key) runs, or wants to be started no more")
            await gateway.forget(application)
        }
        for (key, application) in found {
            if let known = sleeping[key] {
                // While it sleeps, its regions' states are ours to change; anything else is another registration.
                guard known.withoutStates != application.withoutStates else { continue }
                await gateway.forget(known)
            }
            logger.debug("watching for \(key)")
            await gateway.watch(for: application)
        }
        sleeping = found
    }

    /// Tells what is wrong, once.
    private func tell(_ new: [String: String], of registry: ApplicationRegistry) {
        for (name, message) in new {
            let label = "\(registry.account.name)/\(name)"
            if problems.updateValue(message, forKey: label) != message {
                logger.warning(
                    "\(name.isEmpty ? "no application" : name) of \(registry.account.name) is started: \(message)")
            }
        }
        for label in problems.keys where label.hasPrefix(registry.account.name + "/") {
            if new[String(label.dropFirst(registry.account.name.count + 1))] == nil { problems[label] = nil }
        }
    }

    /// A region of an application was entered or left: what happened is kept for it, and it is started.
    func regionChanged(_ identifier: String, of key: ApplicationKey, _ change: RegionBoard.Change) async {
        guard !isStopped, let application = sleeping[key], let applications = settings.applications,
            let registry = registries.first(where: { $0.account == key.account })
        else { return }
        let event = change.event
        do {
            let waiting = WaitingChange(
                identifier: identifier, constraint: event.constraint, state: event.state, time: event.time)
            guard let (region, before) = try registry.keep(waiting, for: key.identity) else { return }
            // Whoever never knew where it stands learns nothing from not being there.
            let isWanted = event.state == .inside ? region.notifiesOnEntry : region.notifiesOnExit && before == .inside
            guard isWanted else { return }
        } catch {
            logger.error("\(key) is not started: \(error)")
            return
        }
        let launcher =
            launchers[key] ?? ApplicationLauncher(key, settings: applications, logger: logger)
        launchers[key] = launcher
        await launcher.start(application.launch)
    }

    // MARK: - Rules

    /// A region of the configuration was entered or left.
    func regionChanged(_ name: String, _ change: RegionBoard.Change) async {
        let kind: LaunchRule.Event
        switch change.kind {
        case .enter: kind = .enter
        case .exit: kind = .exit
        case .state: return
        }
        let event = LaunchEvent(
            event: kind, name: name, constraint: change.event.constraint, time: change.event.time,
            receiver: change.event.receiver)
        for runner in rules where runner.rule.events.contains(kind) && runner.rule.regions?.contains(name) ?? true {
            await runner.enqueue(event)
        }
    }

    // MARK: - End

    /// Waits until what was started for what has happened has ended, or its time is over.
    func finish() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.finish() } }
            for rule in rules { group.addTask { await rule.finish() } }
        }
    }

    /// Ends all that was started here.
    func stop() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.stop() } }
            for rule in rules { group.addTask { await rule.stop() } }
        }
    }
}
