import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
package import Foundation

/// A decision of a rule about an event, or about a run that waited.
package struct RuleDecision: Sendable {
    /// The event, with the time of the run, or of the reason why it does not run.
    package var occurrence: RuleOccurrence
    package var work: ActiveRule.Work

    init(_ occurrence: RuleOccurrence, _ work: ActiveRule.Work) {
        (self.occurrence, self.work) = (occurrence, work)
        if work.held == nil { self.occurrence.time = work.runs.first?.time ?? occurrence.time }
    }
}

/// A rule with its state: its visits and sightings, its last runs, and those that wait.
package struct ActiveRule: Sendable {
    /// Counters of a rule since beacond started, except those of its program.
    package struct Counts: Hashable, Sendable {
        /// The events for which it ran.
        package var ran = 0
        /// The events for which it did not run, because of its schedule, its span or a late event.
        package var withheld = 0
        package var last: Date?
    }

    /// The effects of one event on one rule.
    package struct Work: Sendable {
        /// True if the rule runs.
        package var ran = false
        /// The entries for the audit trail.
        package var runs: [RuleRun] = []
        var firing: RuleFiring?
        var notification: BeaconNotification?
        var destinations: [String] = []
        /// The line for the rule's program; nil to start none.
        var line: [UInt8]?
        /// The run that waits from now on.
        var held: HeldRun?
        /// The ids of runs that no longer wait.
        var ended: [String] = []
        /// The reason why it does not run; nil if it does, or waits.
        package var reason: String? { ran ? nil : runs.first?.detail }
    }

    /// The most people whose last run a rule with a span remembers. If there are more, the least recent are forgotten,
    /// except named beacons. Limits the memory that invented beacons can occupy.
    private static let maximumPeople = 10_000

    package var rule: Rule
    /// A number that no other rule of the run has. A rule that was changed has another one, since it begins again.
    var number = 0
    /// Its name before the last change; nil for none.
    var formerName: String?
    /// The runner of the program; nil if the rule has none. After a change, the runner of before, until it is replaced.
    package var runner: RuleRunner?
    /// The matcher for events of this machine's receivers.
    var heard: ProximityMachine
    /// True until the rule has seen the present state of the receivers.
    var isNew = true
    /// The newest notified proximity of each beacon by receiver; only in a trial.
    var notified: [BeaconIdentity: [String: Proximity]] = [:]
    /// The matcher for events of apps and other gateways.
    var reported: ProximityMachine
    /// The switch in the console; nil if it was not used.
    package var isSwitchedOn: Bool?
    /// The time of the last run for each person, if the rule runs once in a span.
    var firings: [String: Timestamp] = [:]
    /// The sightings and the waiting runs: those of this machine, and those of apps and other gateways.
    var here = Side()
    var elsewhere = Side()
    /// True until the rule has its sightings from the history.
    var needsHistory: Bool
    package var counts = Counts()

    package var isEnabled: Bool { isSwitchedOn ?? rule.isEnabled }
    /// All waiting runs.
    var held: [HeldRun] { here.held + elsewhere.held }

    /// Creates an active rule without state.
    package init(_ rule: Rule) {
        self.rule = rule
        needsHistory = rule.remembersSightings
        heard = ProximityMachine(rule.events)
        // Limits the memory that invented installs can occupy.
        reported = heard
        reported.maximum = 10_000
    }

    /// Decides whether the rule runs for an occurrence that concerns it.
    ///
    /// - Parameters:
    ///   - arrival: the time of arrival of an event of an app or another gateway; nil for this machine's.
    ///   - line: the line for the rule's program.
    ///   - named: the named beacons, whose last run is always remembered.
    package mutating func decide(
        _ occurrence: RuleOccurrence, arrival: Timestamp? = nil, line: [UInt8]? = nil,
        named: @autoclosure () -> [BeaconIdentity], ids: inout EventIDs
    ) -> Work {
        let fault = rule.lateReason(against: occurrence) ?? pastReason(against: occurrence)
        if fault == nil, let unless = rule.unless {
            return hold(occurrence, unless.within, arrival: arrival, line: line, ids: &ids)
        }
        if let reason = fault ?? rule.reason(against: occurrence, last: firings[occurrence.personKey]) {
            counts.withheld += 1
            var run = rule.run(for: occurrence)
            run.outcome = .withheld
            run.detail = reason
            return Work(runs: [run])
        }
        return run(occurrence, line: line, named: named(), ids: &ids)
    }

    /// Runs the rule.
    mutating func run(
        _ occurrence: RuleOccurrence, line: [UInt8]?, named: @autoclosure () -> [BeaconIdentity], ids: inout EventIDs
    ) -> Work {
        counts.ran += 1
        let (run, person) = (rule.run(for: occurrence, .others), occurrence.personKey)
        // The outcome of a program is recorded once it has ended.
        var work = Work(ran: true, runs: run.action.isEmpty ? [] : [run])
        if rule.target != nil { work.line = line }
        if rule.span != nil {
            if firings.count >= Self.maximumPeople, firings[person] == nil {
                // A tenth at once, since sorting for every invented person would be slow.
                let names = Set(named().map(\.description))
                let others = firings.filter { !names.contains($0.key) }
                for oldest in others.sorted(by: { $0.value < $1.value }).prefix(Self.maximumPeople / 10) {
                    firings[oldest.key] = nil
                }
            }
            firings[person] = occurrence.time
            work.firing = RuleFiring(rule: rule.name, person: person, time: occurrence.time)
        }
        if !rule.destinations.isEmpty {
            work.destinations = rule.destinations
            work.notification = rule.notification(of: occurrence, ids: &ids)
        }
        return work
    }
}
