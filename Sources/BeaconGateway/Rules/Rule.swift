import BeaconConfiguration
import BeaconModel
package import BeaconMonitoring

/// A rule: an action for when a region is entered or left, or when a beacon changes place, comes near, stays,
/// disappears or may have been cloned.
public struct Rule: Hashable, Sendable {
    /// A program or a systemd unit.
    public enum Target: Hashable, Sendable {
        /// A program and its arguments. No shell is involved. The program receives the event as JSON on standard input.
        case program([String])
        /// A systemd unit, started with `systemctl start`.
        case unit(String)
    }

    /// The name in messages and events.
    public var name: String

    /// The regions whose events count; nil for all.
    public var regions: Set<String>?

    /// The beacons whose proximity and place count; nil for all of the regions.
    package var beacons: Set<BeaconIdentity>?

    /// The places that a beacon has to enter, or is fixed in; nil for any or no place.
    package var places: Set<String>?

    /// The events that count.
    package var events: Set<RuleEvent>

    /// The people whose events count; nil for all events, those from apps and those of this machine's receivers.
    public var audience: RuleAudience?

    /// The beacons that hold its run back: it waits, and does not run if the person comes near one in time; nil to run
    /// at once.
    public var unless: RuleEncounter?

    /// The days and hours when it runs; nil for always.
    public var schedule: RuleSchedule?

    /// The span in which it runs once per person: the user of an app, otherwise the beacon, otherwise the region. nil
    /// to run every time.
    public var span: Duration?

    /// True if it also runs for events that apps sent long after they happened.
    public var acceptsLateEvents = false

    /// False if the rule does nothing.
    public var isEnabled = true

    /// The message to the install that sent the event; nil for none.
    public var message: RuleMessage?

    /// The configured destinations to notify.
    public var destinations: [String] = []

    /// The program or unit to start; nil for none.
    public var target: Target?

    /// The program's working directory; nil for the daemon's.
    public var folder: String?

    /// The daemon's environment variables that the program receives, besides those of the user's session.
    public var environment: [String]

    /// The program's time limit.
    public var timeLimit: Duration

    /// The minimum time between two starts. Events that arrive earlier wait.
    public var interval: Duration

    /// Creates a rule.
    package init(
        name: String, regions: Set<String>? = nil, beacons: Set<BeaconIdentity>? = nil,
        events: Set<RuleEvent> = [.enter], target: Target?, folder: String? = nil, environment: [String] = [],
        timeLimit: Duration = .seconds(30),
        interval: Duration = .seconds(1)
    ) {
        self.name = name
        self.regions = regions
        self.beacons = beacons
        self.events = events
        self.target = target
        self.folder = folder
        self.environment = environment
        self.timeLimit = timeLimit
        self.interval = interval
    }
}

extension Rule {
    /// The keys of a rule.
    static let grammar = Grammar<Self>(
        Rule(name: "", target: nil),
        [
            Setting(
                "name", \.name, .name("rule"), required: .remedyForName(of: "rule"),
                "The name in messages and events."),
            Setting(
                "regions", \.regions, .names(of: "region"), default: "all",
                "The regions whose events count."),
            Setting(
                "beacons", .list(.text()), "The named beacons whose events count.",
                default: { _ in "all of the regions" }
            ) { section, rule in
                guard let names = section.read("beacons", .names(of: "beacon")) else { return false }
                rule.beacons = Set(section.reading.context.beacons.filter { names.contains($0.value) }.map(\.key))
                return true
            },
            Setting(
                "places", \.places, .names(of: "place"), default: "all",
                "The places into which a beacon has to come, or that it is fixed in."),
            Setting(
                "events", \.events, .ruleEvents, default: "`enter`",
                "The events that count, such as `[enter, near for 30s]`."),
            Setting("who", \.audience, .mappingIfGiven(RuleAudience.grammar), "Only events of apps, of these people."),
            Setting(
                "unless", \.unless, .mappingIfGiven(RuleEncounter.future),
                "Waits, and does not run if the same user, install or beacon comes near one of these beacons in time."),
            Setting(
                "when", \.schedule, .mappingIfGiven(RuleSchedule.grammar), default: "always", "The days and hours."),
            Setting(
                "at-most", \.span, .duration(.seconds(1)...(.seconds(3660 * 86_400))), default: "each time",
                "Once in this span for each user, install, beacon or region."),
            Setting(
                "late", \.acceptsLateEvents, .boolean, title: "Also for events that arrive late",
                "Also for events that arrive more than ten minutes late: phones without a network report later."),
            Setting("enabled", \.isEnabled, .boolean, "A rule that is not enabled does nothing."),
            Setting(
                "message", \.message, .ruleMessage,
                "A message to the install that sent the event: a text, or `title`, `text` and `url`. `{beacon}`, `{region}`, `{place}`, `{user}` and `{event}` stand for values of the event."
            ),
            Setting(
                "destinations", \.destinations, .sortedNames(of: "destination"),
                "The destinations to notify."),
            Setting(
                "program", .commandWords, title: "Program and its arguments",
                "The program to start and its arguments, or one line of both."
            ) { $0.target = .program($1) },
            Setting(
                "unit", .text(pattern: #"^[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@-]*$"#), title: "Systemd unit",
                "The systemd unit to start, in place of a program."
            ) { $1.readUnit($0) },
            Setting(
                "folder", \.folder, .path, default: "beacond's own", title: "Working folder",
                "The working directory of the program."),
            Setting(
                "environment", \.environment, .texts("write names of environment variables, such as [LIGHTS_KEY]"),

                "The environment variables that the program gets, besides those of a session."),
            Setting(
                "time-limit", \.timeLimit, .duration(.seconds(1)...(.seconds(86_400))),
                "The program's time limit."),
            Setting(
                "interval", \.interval, .duration(.zero...(.seconds(86_400))),
                "The minimum time between two starts."),
        ], oneOf: actions
    ) { section, rule, isWhole in
        if !actions.contains(where: section.has) {
            section.reportMissing(
                "program",
                "write the program to start and its arguments, a systemd \"unit\", a \"message\" to the install, or "
                    + "\"destinations\"")
        }
        guard isWhole, rule.target != nil || rule.message != nil || section.has("destinations") else { return false }
        rule.check(section)
        return true
    }

    /// The keys of actions. A rule needs at least one.
    static let actions = ["program", "unit", "message", "destinations"]

    /// Reports keys that contradict each other.
    private func check(_ section: ConfigurationSection) {
        let isAboutBeacons = events.contains(where: \.isOfBeacon)
        if beacons != nil, !isAboutBeacons {
            section.report("\"beacons\" needs an event of beacons; add near to the events, or remove \"beacons\"")
        }
        if places != nil, !isAboutBeacons {
            section.report(
                "\"places\" needs an event of beacons; add place or near to the events, or remove \"places\"")
        }
        if events.contains(.place), !section.reading.context.hasPlaces {
            section.report(
                "the event place needs places; assign receivers to places with the key \"places\" of the file")
        }
        if events.contains(.suspicious), !section.reading.context.learnsOfClones {
            section.report("the event suspicious needs \"suspicious: true\" in the file, or its options")
        }
    }

    /// Reads the key `unit`.
    private mutating func readUnit(_ section: ConfigurationSection) -> Bool {
        guard let unit = section.text("unit", "write the name of a systemd unit, such as lights.service") else {
            return false
        }
        guard target == nil else {
            section.report(section.origin, "a rule starts either a \"program\" or a \"unit\"; keep one of them")
            target = nil
            return false
        }
        // The characters that systemd.unit(5) allows. systemctl would read a leading hyphen as an option.
        guard unit.wholeMatch(of: /[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@\-]*/) != nil else {
            section.report(
                section.origin(of: "unit"), "\"unit\" is \"\(unit)\"; write a unit's name, such as lights.service")
            return false
        }
        target = .unit(unit)
        return true
    }
}

extension SettingKind<Set<RuleEvent>> {
    /// Events of rules.
    fileprivate static let ruleEvents = SettingKind(
        .list(
            .text(
                pattern: "^ *(enter|exit|place|gone|suspicious|(immediate|near|far)( +for +"
                    + "\(SettingShape.durationPattern))?) *$"))
    ) { section, key in
        section.texts(key, "write a list of events, such as [enter, near]").map { texts in
            Set(
                texts.compactMap { text -> RuleEvent? in
                    do throws(RuleEvent.Failure) {
                        return try RuleEvent(text.value)
                    } catch {
                        section.report(text.origin, "\"\(key)\": \(error)")
                        return nil
                    }
                })
        }
    }
}
