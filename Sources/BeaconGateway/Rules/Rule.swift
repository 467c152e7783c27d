import BeaconConfiguration
import BeaconModel
package import BeaconMonitoring

/// A rule: what is done when a region is entered or left, or when a beacon comes into another place, comes near, stays,
/// is gone, or may have been cloned.
public struct Rule: Hashable, Sendable {
    /// A program or a systemd unit.
    public enum Target: Hashable, Sendable {
        /// A program and its arguments, without a shell. It gets the event as JSON on its standard input.
        case program([String])
        /// A systemd unit, by `systemctl start`.
        case unit(String)
    }

    /// The name in messages.
    public var name: String

    /// The regions whose events count; nil for all.
    public var regions: Set<String>?

    /// The beacons whose proximity and place count; nil for all of the regions.
    package var beacons: Set<BeaconIdentity>?

    /// The places into which a beacon has to come; nil for all, and for none.
    package var places: Set<String>?

    /// The events that count.
    package var events: Set<RuleEvent>

    /// Whose events count; nil for those of apps and for what is heard here.
    public var audience: RuleAudience?

    /// The days and hours at which it runs; nil for always.
    public var schedule: RuleSchedule?

    /// The span in which it runs once for each person: for the user of an app, else for the beacon, else for the
    /// region; nil for each time.
    public var span: Duration?

    /// True where it also runs for events that apps sent long after they happened.
    public var acceptsLateEvents = false

    /// False where it does nothing.
    public var isEnabled = true

    /// The message to the install whose event it is; nil for none.
    public var message: RuleMessage?

    /// The destinations of the configuration that are notified.
    public var destinations: [String] = []

    /// The program or unit to start; nil for none.
    public var target: Target?

    /// The program's working directory; nil for the daemon's own.
    public var folder: String?

    /// The names of the daemon's environment variables that it gets, besides those of the user's session.
    public var environment: [String]

    /// The time that it may run.
    public var timeLimit: Duration

    /// The least time from one start to the next. An event that comes earlier waits.
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
    /// What a rule may refer to.
    struct Context {
        /// The names of regions.
        var regions: Set<String>
        /// The beacons that have names.
        var beacons: [BeaconSettings]
        /// The names of places; nil where there are none.
        var places: [String]?
        /// The names of destinations.
        var destinations: Set<String>
        /// True where beacons are looked for that were cloned, here or by another beacond that says so.
        var learnsOfClones: Bool
    }

    static func read(_ section: ConfigurationSection, names: inout Set<String>, in context: Context) -> Rule? {
        let name = section.name("rule", known: &names)
        let allowed = section.regionNames("regions", defined: context.regions)
        let named = section.beaconNames("beacons", defined: context.beacons)
        // A place is one in which beacons are located, or one that a beacon is fixed in.
        let places = Set(context.places ?? []).union(context.beacons.compactMap(\.place))
        let rooms = section.placeNames("places", defined: places)
        let events = section.texts("events", "write a list of events, as [enter, near]")?.compactMap { text in
            do throws(RuleEvent.Failure) {
                return try RuleEvent(text.value)
            } catch {
                section.report(text.origin, "\"events\": \(error)")
                return nil
            }
        }
        let audience = RuleAudience.read(section)
        let schedule = RuleSchedule.read(section)
        let span = section.duration("at-most", .seconds(1)...(.seconds(3660 * 86_400)))
        let late = section.boolean("late") ?? false
        let isEnabled = section.boolean("enabled") ?? true
        let message = RuleMessage.read(section)
        let destinations = section.destinationNames("destinations", defined: context.destinations)
        let target = Target.read(section)
        let folder = section.filePath("folder")
        let environment = section.texts("environment", "write names of environment variables, as [LIGHTS_KEY]")
        let limit = section.duration("time-limit", .seconds(1)...(.seconds(86_400)))
        let interval = section.duration("interval", .zero...(.seconds(86_400)))
        let does = ["program", "unit", "message", "destinations"]
        if !does.contains(where: section.has) {
            section.reportMissing(
                "program",
                "write the program to start and its arguments, a systemd \"unit\", a \"message\" to the install, or "
                    + "\"destinations\"")
        }
        guard let name, target != nil || message != nil || destinations != nil else { return nil }
        var rule = Rule(name: name, regions: allowed, target: target, folder: folder?.value)
        if let events { rule.events = Set(events) }
        rule.beacons = named
        rule.places = rooms
        rule.audience = audience
        rule.schedule = schedule
        rule.span = span
        rule.acceptsLateEvents = late
        rule.isEnabled = isEnabled
        rule.message = message
        rule.destinations = destinations ?? []
        if let environment { rule.environment = environment.map(\.value) }
        if let limit { rule.timeLimit = limit }
        if let interval { rule.interval = interval }
        rule.check(section, context)
        return rule
    }

    /// Reports what does not go together.
    private func check(_ section: ConfigurationSection, _ context: Context) {
        let isAboutBeacons = events.contains(where: \.isOfBeacon)
        let hasPlaces = events.contains(.place)
        if beacons != nil, !isAboutBeacons {
            section.report(
                section.origin,
                "\(section.subject)\"beacons\" is for events of beacons, and there are none; add near, or remove it")
        }
        if places != nil, !isAboutBeacons {
            section.report(
                section.origin,
                "\(section.subject)\"places\" is for events of beacons, and there are none; add place or near, or remove it"
            )
        }
        if hasPlaces, context.places == nil {
            section.report(
                section.origin,
                "\(section.subject)the event place needs places; say which receivers are where with the key \"places\" of the file"
            )
        }
        if events.contains(.suspicious), !context.learnsOfClones {
            section.report(
                section.origin,
                "\(section.subject)the event suspicious needs \"suspicious: true\" in the file, or its options")
        }
    }
}

extension Rule.Target {
    /// Reads the keys `program` and `unit`; nil where there are none.
    static func read(_ section: ConfigurationSection) -> Self? {
        let program = section.words("program")
        let unit = section.text("unit", "write the name of a systemd unit, as lights.service")
        switch (program, unit) {
        case (let words?, nil): return .program(words)
        case (nil, let unit?):
            // systemd.unit(5): what a name may have; a leading hyphen would be an option.
            let isName = unit.value.unicodeScalars.allSatisfy {
                ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                    || ":-_.\\@".unicodeScalars.contains($0)
            }
            guard isName, !unit.value.isEmpty, !unit.value.hasPrefix("-") else {
                section.report(unit.origin, "\"unit\" is \"\(unit.value)\"; write a unit's name, as lights.service")
                return nil
            }
            return .unit(unit.value)
        case (_?, _?):
            section.report(section.origin, "a rule starts either a \"program\" or a \"unit\"; keep one of them")
            return nil
        case (nil, nil): return nil
        }
    }
}
