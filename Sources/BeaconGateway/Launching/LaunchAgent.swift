import BeaconApplications
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

/// The launcher of programs for events: those of the configuration's rules, and applications that monitor regions
/// themselves and do not run.
actor LaunchAgent {
    /// The time between two looks at the registered applications. The regions of one that ends are monitored after this
    /// at the latest.
    static let lookInterval = Duration.seconds(2)

    private let settings: LaunchSettings
    private let registry: ApplicationRegistry?
    private let rules: [RuleRunner]
    private var triggers: [RuleTrigger]
    private let logger: Logger
    private var launchers: [ApplicationIdentity: ApplicationLauncher] = [:]
    private var terminated: [ApplicationIdentity: TerminatedApplication] = [:]
    private var problems: [String: String] = [:]
    private var isStopped = false

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - settings: the rules, and the settings for applications.
    ///   - registry: the registry of applications; nil where none are started.
    ///   - logger: the log, which programs' output is written to as well.
    init(_ settings: LaunchSettings, registry: ApplicationRegistry?, logger: Logger) {
        self.settings = settings
        self.registry = registry
        self.logger = logger
        rules = settings.rules.map { RuleRunner($0, logger: logger) }
        triggers = settings.rules.map { RuleTrigger($0.events, of: $0.beacons) }
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

    /// The rules, each with its results so far, and when its program was started last.
    var ruleCounts: [(rule: LaunchRule, counts: RuleRunner.Counts, lastStart: Date?)] {
        get async {
            var all: [(rule: LaunchRule, counts: RuleRunner.Counts, lastStart: Date?)] = []
            for runner in rules { all.append((runner.rule, await runner.counts, await runner.lastStart)) }
            return all
        }
    }

    // MARK: - Applications

    /// Looks for registered applications again and again, and has the gateway monitor for those that do not run, until
    /// its task is cancelled.
    func run(_ gateway: Gateway) async {
        guard let registry else { return }
        while !Task.isCancelled {
            await look(registry, gateway)
            try? await Task.sleep(for: Self.lookInterval)
        }
    }

    private func look(_ registry: ApplicationRegistry, _ gateway: Gateway) async {
        var found: [ApplicationIdentity: TerminatedApplication] = [:]
        let result = registry.look()
        for application in result.terminated { found[application.identity] = application }
        for error in result.damaged { logger.error("\(error)") }
        log(result.problems)
        for (identity, application) in terminated where found[identity] == nil {
            logger.debug("\(identity.name) runs, or is registered no longer")
            await gateway.forget(application)
        }
        for (identity, application) in found {
            if let known = terminated[identity] {
                // While it does not run, only this process changes its states; any other difference is a new
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

    // MARK: - Rules

    /// Starts the programs of rules for a change of a region of the configuration.
    func startPrograms(for event: RegionEvent) async {
        let kind: RuleEvent
        switch event.kind {
        case .enter: kind = .enter
        case .exit: kind = .exit
        default: return
        }
        for runner in rules where runner.rule.events.contains(kind) && runner.rule.regions?.contains(event.name) ?? true
        {
            var line: [UInt8] = []
            EventJSON.append(event, to: &line)
            await runner.enqueue(line)
        }
    }

    /// Starts the programs of rules for a beacon that is in another place, or in none. Where it can only no longer be told,
    /// nothing has happened.
    ///
    /// - Parameters:
    ///   - event: the change.
    ///   - names: the regions of the configuration that the beacon belongs to.
    func startPrograms(for event: PlaceEvent, of names: [String]) async {
        guard event.state != .unknown, event.place != event.before else { return }
        for runner in rules where runner.rule.concerns(event, of: names) {
            var line: [UInt8] = []
            EventJSON.append(event, to: &line)
            await runner.enqueue(line)
        }
    }

    /// True where the rules have events for which beacons have to be ranged.
    nonisolated var needsRanging: Bool { settings.rules.contains { $0.events.contains(where: \.needsRanging) } }

    /// True where the rules have the event of a place.
    nonisolated var needsPlaces: Bool { settings.rules.contains { $0.events.contains(.place) } }

    /// Starts the programs of rules for what a report of ranging shows.
    ///
    /// - Parameters:
    ///   - report: the report, by the wall clock.
    ///   - time: the same second by the core's clock.
    ///   - receiver: the receiver.
    ///   - names: the regions of the configuration whose constraint it has.
    func startPrograms(
        for report: RangingEvent, at time: Timestamp, from receiver: ReceiverID, of names: [String]
    ) async {
        for (number, runner) in rules.enumerated()
        where runner.rule.regions.map({ !$0.isDisjoint(with: names) }) ?? true {
            for moment in triggers[number].receive(report, at: time, from: receiver) {
                var line: [UInt8] = []
                EventJSON.append(moment, to: &line)
                await runner.enqueue(line)
            }
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
