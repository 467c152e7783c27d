/// A rule for starting a program when a region is entered or left.
public struct LaunchRule: Hashable, Sendable {
    /// A program or a systemd unit.
    public enum Target: Hashable, Sendable {
        /// A program and its arguments, without a shell. It gets the event as JSON on its standard input.
        case program([String])
        /// A systemd unit, by `systemctl start`.
        case unit(String)
    }

    /// A change of a region.
    public enum Event: String, Hashable, Sendable, CaseIterable {
        /// The region was entered.
        case enter
        /// The region was left.
        case exit
    }

    /// The name in messages.
    public var name: String

    /// The regions whose events count; nil for all.
    public var regions: Set<String>?

    /// The events that count.
    public var events: Set<Event>

    /// The program or unit to start.
    public var target: Target

    /// The program's working directory; nil for the daemon's own.
    public var folder: String?

    /// The names of the daemon's environment variables that it gets, besides those of the user's session.
    public var environment: [String]

    /// The time that it may run.
    public var timeLimit: Duration

    /// The least time from one start to the next. An event that comes earlier waits.
    public var interval: Duration

    /// Creates a rule.
    public init(
        name: String, regions: Set<String>? = nil, events: Set<Event> = [.enter], target: Target,
        folder: String? = nil, environment: [String] = [], timeLimit: Duration = .seconds(30),
        interval: Duration = .seconds(1)
    ) {
        self.name = name
        self.regions = regions
        self.events = events
        self.target = target
        self.folder = folder
        self.environment = environment
        self.timeLimit = timeLimit
        self.interval = interval
    }
}

extension LaunchRule {
    static func read(
        _ section: ConfigurationSection, names: inout Set<String>, regions: Set<String>
    ) -> LaunchRule? {
        let name = section.name("rule", known: &names)
        let allowed = section.regionNames("regions", defined: regions)
        let events = section.choices("events", Event.allCases.map { ($0.rawValue, $0) })
        let program = section.words("program")
        let unit = section.text("unit", "write the name of a systemd unit, as lights.service")
        let folder = section.filePath("folder")
        let environment = section.texts("environment", "write names of environment variables, as [LIGHTS_KEY]")
        let limit = section.duration("time-limit", .seconds(1)...(.seconds(86_400)))
        let interval = section.duration("interval", .zero...(.seconds(86_400)))
        let target: Target
        switch (program, unit) {
        case (let words?, nil): target = .program(words)
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
            target = .unit(unit.value)
        case (_?, _?):
            section.report(section.origin, "a rule starts either a \"program\" or a \"unit\"; keep one of them")
            return nil
        case (nil, nil):
            if !section.has("program"), !section.has("unit") {
                section.reportMissing("program", "write the program to start and its arguments, or a systemd \"unit\"")
            }
            return nil
        }
        guard let name else { return nil }
        var rule = LaunchRule(name: name, regions: allowed, target: target, folder: folder?.value)
        if let events { rule.events = Set(events) }
        if let environment { rule.environment = environment.map(\.value) }
        if let limit { rule.timeLimit = limit }
        if let interval { rule.interval = interval }
        return rule
    }
}
