import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
package import Foundation

/// A rule with its state: what it has seen, and for whom it ran.
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
        /// The reason why it does not run; nil if it does.
        package var reason: String? { ran ? nil : runs.first?.detail }
    }

    /// The most people whose last run a rule with a span remembers. If there are more, the least recent are forgotten,
    /// except named beacons. Limits the memory that invented beacons can occupy.
    private static let maximumPeople = 10_000

    package var rule: Rule
    /// A number that no other rule of the run has. A rule that was changed has another one, since it begins again.
    var number = 0
    /// The runner of the program; nil if the rule has none.
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
    package var counts = Counts()

    package var isEnabled: Bool { isSwitchedOn ?? rule.isEnabled }

    /// Creates an active rule without state.
    package init(_ rule: Rule) {
        self.rule = rule
        heard = ProximityMachine(rule.events)
        // Limits the memory that invented installs can occupy.
        reported = heard
        reported.maximum = 10_000
    }

    /// Decides whether the rule runs for an occurrence that concerns it.
    ///
    /// - Parameter named: the named beacons, whose last run is always remembered.
    package mutating func decide(
        _ occurrence: RuleOccurrence, named: @autoclosure () -> [BeaconIdentity], ids: inout EventIDs
    ) -> Work {
        let person = occurrence.personKey
        var run = rule.run(for: occurrence)
        if let reason = rule.reason(against: occurrence, last: firings[person]) {
            counts.withheld += 1
            run.outcome = .withheld
            run.detail = reason
            return Work(runs: [run])
        }
        counts.ran += 1
        // The outcome of a program is recorded once it has ended.
        var work = Work(
            ran: true, runs: rule.target == nil || rule.message != nil || !rule.destinations.isEmpty ? [run] : [])
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
