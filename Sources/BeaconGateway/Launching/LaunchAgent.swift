import BeaconApplications
import BeaconModel
import BeaconMonitoring
import Foundation
package import Logging

/// The launcher of terminated applications that monitor regions themselves.
package actor LaunchAgent {
    /// The time between two scans of the registered applications. When an application ends, its regions are monitored
    /// after this time at the latest.
    static let scanInterval = Duration.seconds(2)

    private let settings: LaunchSettings
    private let registry: ApplicationRegistry?
    private let logger: Logger
    private var launchers: [ApplicationIdentity: ApplicationLauncher] = [:]
    private var terminated: [ApplicationIdentity: TerminatedApplication] = [:]
    private var problems: [String: String] = [:]
    private var isStopped = false

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - settings: the settings for applications.
    ///   - registry: the registry of applications; nil to start none.
    ///   - logger: the log, which also gets the output of programs.
    package init(_ settings: LaunchSettings, registry: ApplicationRegistry?, logger: Logger) {
        self.settings = settings
        self.registry = registry
        self.logger = logger
    }

    /// The number of applications that were started.
    package var started: Int {
        get async {
            var count = 0
            for launcher in launchers.values { count += await launcher.started }
            return count
        }
    }

    /// The applications that cannot be started or failed the last time, with the reasons.
    package var faults: [String: String] {
        get async {
            var faults = problems
            for (identity, launcher) in launchers {
                faults[identity.name] = await launcher.failure ?? faults[identity.name]
            }
            return faults
        }
    }

    // MARK: - Applications

    /// Scans for registered applications repeatedly, and lets the gateway monitor for the terminated ones, until its
    /// task is cancelled.
    package func run(_ gateway: Gateway) async {
        guard let registry else { return }
        while !Task.isCancelled {
            await scan(registry, gateway)
            try? await Task.sleep(for: Self.scanInterval)
        }
    }

    private func scan(_ registry: ApplicationRegistry, _ gateway: Gateway) async {
        var found: [ApplicationIdentity: TerminatedApplication] = [:]
        let result = registry.look()
        for application in result.terminated { found[application.identity] = application }
        for error in result.damaged { logger.error("\(error)") }
        log(result.problems)
        for (identity, application) in terminated where found[identity] == nil {
            logger.debug("\(identity.name) runs, or is no longer registered")
            await gateway.forget(application)
        }
        for (identity, application) in found {
            if let known = terminated[identity] {
                // While it does not run, only this process changes its states. Any other difference is a new
                // registration.
                guard known.withoutStates != application.withoutStates else { continue }
                await gateway.forget(known)
            }
            logger.debug("monitoring \(application.triggers.count) regions and conditions of \(identity.name)")
            await gateway.monitor(for: application)
        }
        terminated = found
    }

    /// Logs each problem once.
    private func log(_ new: [String: String]) {
        for (name, message) in new where problems[name] != message {
            logger.warning("cannot start \(name.isEmpty ? "applications" : name): \(message)")
        }
        problems = new
    }

    /// Stores a change of an application's region or condition for the application, and starts it.
    ///
    /// - Parameters:
    ///   - identity: the application.
    ///   - event: the change, by the wall clock.
    ///   - id: the region or condition that changed.
    func startApplication(_ identity: ApplicationIdentity, for event: RegionEvent, of id: LaunchTrigger.ID) async {
        guard !isStopped, let application = terminated[identity], let applications = settings.applications,
            let registry
        else { return }
        do {
            guard
                let trigger = try registry.store(
                    event.state, at: event.time, of: id, constraint: event.constraint, for: identity),
                trigger.launches(from: trigger.state, to: event.state)
            else { return }
        } catch {
            logger.error("cannot start \(identity.name): \(error)")
            return
        }
        let launcher =
            launchers[identity] ?? ApplicationLauncher(identity, settings: applications, logger: logger)
        launchers[identity] = launcher
        await launcher.start(application.launch)
    }

    // MARK: - Shutdown

    /// Waits until the applications of past events have ended or timed out.
    package func finish() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.finish() } }
        }
    }

    /// Ends all applications that were started here.
    package func stop() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for launcher in launchers.values { group.addTask { await launcher.stop() } }
        }
    }
}
