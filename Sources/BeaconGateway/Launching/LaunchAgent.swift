import BeaconApplications
import BeaconModel
import BeaconPrograms
import Foundation
import Logging

/// The launcher of programs for events: those of the configuration's rules, and applications that monitor regions
/// themselves and do not run.
actor LaunchAgent {
    /// The time between two looks at the registered applications. The regions of one that ends are monitored after this
    /// at the latest.
    static let lookInterval = Duration.seconds(2)

    private let settings: LaunchSettings
    private let registries: [ApplicationRegistry]
    private let rules: [RuleRunner]
    private let logger: Logger
    private var launchers: [ApplicationKey: ApplicationLauncher] = [:]
    private var terminated: [ApplicationKey: TerminatedApplication] = [:]
    private var problems: [String: String] = [:]
    private var isStopped = false

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - settings: the rules, and the settings for applications.
    ///   - registries: the registries of applications.
    ///   - logger: the log, which programs' output is written to as well.
    init(_ settings: LaunchSettings, registries: [ApplicationRegistry], logger: Logger) {
        self.settings = settings
        self.registries = registries
        self.logger = logger
        rules = settings.rules.map { RuleRunner($0, logger: logger) }
    }

    /// The number of programs and applications that were started.
    var started: Int {
        get async {
            var count = 0
            for rule in rules { count += await rule.counts.started }
            for launcher in launchers.values { count += await launcher.started }
            return count
        }
    }

    // MARK: - Applications

    /// Looks for registered applications again and again, and has the gateway monitor for those that do not run, until
    /// its task is cancelled.
    func run(_ gateway: Gateway) async {
        guard settings.applications != nil, !registries.isEmpty else { return }
        while !Task.isCancelled {
            await look(gateway)
            try? await Task.sleep(for: Self.lookInterval)
        }
    }

    private func look(_ gateway: Gateway) async {
        var found: [ApplicationKey: TerminatedApplication] = [:]
        for registry in registries {
            let result = registry.look()
            for application in result.terminated { found[application.key] = application }
            for error in result.damaged { logger.error("\(error)") }
            log(result.problems, of: registry)
        }
        for (key, application) in terminated where found[key] == nil {
            logger.debug("\(key) runs, or is registered no longer")
            await gateway.forget(application)
        }
        for (key, application) in found {
            if let known = terminated[key] {
                // While it does not run, only this process changes its states; any other difference is a new
                // registration.
                guard known.withoutStates != application.withoutStates else { continue }
                await gateway.forget(known)
            }
            logger.debug("monitoring \(application.triggers.count) regions and conditions of \(key)")
            await gateway.monitor(for: application)
        }
        terminated = found
    }

    /// Logs each problem once.
    private func log(_ new: [String: String], of registry: ApplicationRegistry) {
        for (name, message) in new {
            let label = "\(registry.account.name)/\(name)"
            if problems.updateValue(message, forKey: label) != message {
                logger.warning(
                    "cannot start \(name.isEmpty ? "applications" : name) of \(registry.account.name): \(message)")
            }
        }
        for label in problems.keys where label.hasPrefix(registry.account.name + "/") {
            if new[String(label.dropFirst(registry.account.name.count + 1))] == nil { problems[label] = nil }
        }
    }

    /// Stores a change of an application's region or condition for the application, and starts it.
    ///
    /// - Parameters:
    ///   - key: the application.
    ///   - event: the change, by the wall clock.
    ///   - id: the region or condition that changed.
    func startApplication(_ key: ApplicationKey, for event: RegionEvent, of id: LaunchTrigger.ID) async {
        guard !isStopped, let application = terminated[key], let applications = settings.applications,
            let registry = registries.first(where: { $0.account == key.account })
        else { return }
        do {
            guard
                let trigger = try registry.store(
                    event.state, at: event.time, of: id, constraint: event.constraint, for: key.identity),
                trigger.launches(from: trigger.state, to: event.state)
            else { return }
        } catch {
            logger.error("cannot start \(key): \(error)")
            return
        }
        let launcher =
            launchers[key] ?? ApplicationLauncher(key, settings: applications, logger: logger)
        launchers[key] = launcher
        await launcher.start(application.launch)
    }

    // MARK: - Rules

    /// Starts the programs of rules for a change of a region of the configuration.
    func startPrograms(for event: RegionEvent) async {
        let kind: LaunchRule.Event
        switch event.kind {
        case .enter: kind = .enter
        case .exit: kind = .exit
        default: return
        }
        for runner in rules where runner.rule.events.contains(kind) && runner.rule.regions?.contains(event.name) ?? true
        {
            await runner.enqueue(event)
        }
    }

    // MARK: - End

    /// Waits until all that was started for past events has ended, or its time is over.
    func finish() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.finish() } }
            for rule in rules { group.addTask { await rule.finish() } }
        }
    }

    /// Ends all programs and applications that were started here.
    func stop() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.stop() } }
            for rule in rules { group.addTask { await rule.stop() } }
        }
    }
}
