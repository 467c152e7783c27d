import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

/// The rules as a journal keeps them: what they decide by, and nothing of what they do.
///
/// Rules for events of apps are left out, since the journal has no such events.
struct RecordedRules: Codable, Sendable {
    /// A rule.
    struct Entry: Codable, Sendable {
        /// The number of the rule in its run of beacond. One that was changed has another one.
        var number: Int
        var name: String
        var regions: Set<String>?
        var beacons: Set<BeaconIdentity>?
        var places: Set<String>?
        var events: [String]
        var unless: RuleEncounter?
        /// True if a waiting run may be late; nil in recordings of before.
        var acceptsLateEvents: Bool?
        var schedule: RuleSchedule?
        var span: Duration?
        var isEnabled: Bool
        /// The state, at a start of beacond and in a checkpoint.
        var state: State?
    }

    /// The visits and the last runs of a rule.
    struct State: Codable, Sendable {
        var heard: ProximityMachine
        var isNew: Bool
        /// The last run for each beacon and region, if the rule runs once in a span.
        var firings: [String: Timestamp]
        /// The sightings of beacons, and the runs that wait, if the rule has `unless`.
        var seen: RuleSightings?
        var held: [HeldRun]?
    }

    struct Region: Codable, Sendable {
        var name: String
        var constraint: BeaconConstraint
    }

    struct Beacon: Codable, Sendable {
        var name: String
        var identity: BeaconIdentity
        /// The place that it is fixed in.
        var place: String?
    }

    var rules: [Entry]
    var regions: [Region] = []
    var beacons: [Beacon] = []
    /// The beacons that are ranged for the rules.
    var ranged: [BeaconConstraint] = []

    /// Records rules.
    ///
    /// - Parameters:
    ///   - recorded: the beacons whose adverts are recorded. The state has no others.
    ///   - hasState: whether to record the state of the rules.
    init(
        _ rules: [ActiveRule], of configuration: GatewayConfiguration, recorded: RecordedBeacons, hasState: Bool
    ) {
        self.rules = rules.filter { !$0.rule.isOnlyForInstalls }.map { one in
            Entry(
                number: one.number, name: one.rule.name, regions: one.rule.regions, beacons: one.rule.beacons,
                places: one.rule.places, events: one.rule.events.map(\.description).sorted(),
                unless: one.rule.unless, acceptsLateEvents: one.rule.acceptsLateEvents, schedule: one.rule.schedule,
                span: one.rule.span, isEnabled: one.isEnabled)
        }
        guard !self.rules.isEmpty else { return }
        regions = configuration.regions.map { Region(name: $0.name, constraint: $0.region.constraint) }
        beacons = configuration.beacons.map { Beacon(name: $0.name, identity: $0.identity, place: $0.place) }
        ranged = MonitoringPlan(configuration).rangings
        guard hasState else { return }
        let names = Set(regions.map(\.name))
        let states = Dictionary(rules.map { ($0.number, $0) }) { first, _ in first }
        for index in self.rules.indices {
            guard let one = states[self.rules[index].number] else { continue }
            // Not the users of apps.
            func isRecorded(_ person: String) -> Bool {
                names.contains(person) || BeaconIdentity(person: person).map(recorded.contains) ?? false
            }
            self.rules[index].state = State(
                heard: one.heard.mapped { recorded.contains($0) ? $0 : nil }, isNew: one.isNew,
                firings: one.firings.filter { isRecorded($0.key) })
            guard one.rule.unless != nil else { continue }
            self.rules[index].state?.seen = one.here.seen.filtered(isRecorded)
            self.rules[index].state?.held = one.here.held.filter { isRecorded($0.occurrence.person) }.map { run in
                var run = run
                run.line = nil
                run.occurrence.notification.beaconAttributes = [:]
                return run
            }
        }
    }

    /// Reads rules from a recording; nil for other text.
    init?(_ text: String) {
        guard let rules = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = rules
    }

    /// The rules as a part of a recording.
    var input: CoreInput { get throws { .note(String(decoding: try JSONEncoder.sorted.encode(self), as: UTF8.self)) } }
}

extension RecordedRules.Entry {
    /// The rule, with something to do that nothing does.
    var rule: Rule {
        var rule = Rule(
            name: name, regions: regions, beacons: beacons, events: Set(events.compactMap { try? RuleEvent($0) }),
            target: .program([]))
        (rule.places, rule.schedule, rule.span, rule.isEnabled) = (places, schedule, span, isEnabled)
        (rule.unless, rule.acceptsLateEvents) = (unless, acceptsLateEvents ?? false)
        return rule
    }
}

extension BeaconIdentity {
    /// Creates the identity of the person of a rule's run; nil if that is not a beacon.
    init?(person: String) {
        guard let constraint = BeaconConstraint(person), let major = constraint.major, let minor = constraint.minor
        else { return nil }
        self.init(uuid: constraint.uuid, major: major, minor: minor)
    }
}

extension Rule {
    /// True if only events of apps can make it run, because it asks for their users or only sends them messages.
    var isOnlyForInstalls: Bool { audience != nil || target == nil && destinations.isEmpty }
}
