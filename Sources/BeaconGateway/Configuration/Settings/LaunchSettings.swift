import BeaconConfiguration
import Yams

/// The programs and applications that the daemon starts for events.
public struct LaunchSettings: Hashable, Sendable {
    /// The settings for starting applications that monitor regions themselves and do not run.
    public struct Applications: Hashable, Sendable {
        /// The time that a started application may run; nil for no limit.
        public var timeLimit: Duration?

        /// The least time from one start of an application to the next.
        public var interval: Duration

        /// Creates the settings, by default for the applications of the user who runs the daemon, for 30 seconds at a
        /// time: on iOS an application that was launched for a region has about ten, and a Raspberry Pi is slower.
        public init(timeLimit: Duration? = .seconds(30), interval: Duration = .seconds(10)) {
            self.timeLimit = timeLimit
            self.interval = interval
        }
    }

    /// The settings for applications; nil where none are started.
    public var applications: Applications?

    /// The rules for programs and systemd units.
    public var rules: [Rule]

    /// Creates the settings from their parts.
    public init(applications: Applications? = nil, rules: [Rule] = []) {
        self.applications = applications
        self.rules = rules
    }
}

extension LaunchSettings {
    /// Reads the key `launch`.
    static func read(
        _ root: ConfigurationSection, in context: Rule.Context, items: inout [ConfigurationItem]
    ) -> LaunchSettings {
        let section = root.section("launch")
        var settings = LaunchSettings()
        if section.has("applications") { settings.applications = Applications.read(section) }
        _ = section.node("applications")
        var names: Set<String> = []
        let what = "write a list of rules, each beginning with \"- name:\""
        let rules = section.items("rules", what)
        items += ConfigurationItem.ofFile(.rule, rules)
        settings.rules = rules.compactMap { node, path in
            let rule = ConfigurationSection(node, at: path, in: root.reading)
            defer { rule.finish() }
            return Rule.read(rule, names: &names, in: context)
        }
        section.finish()
        return settings
    }
}

extension LaunchSettings {
    /// Reports what of this machine is unsafe or unknown for the configuration's file and its rules.
    func reportMachine(to reading: ConfigurationReading, file: String) {
        let programs = rules.compactMap { rule -> String? in
            // A name alone is found in the folders of PATH.
            guard case .program(let words)? = rule.target, let program = words.first, program.contains("/") else {
                return nil
            }
            return program.hasPrefix("/") ? program : rule.folder.map { "\($0)/\(program)" }
        }
        reading.reportExposure(of: file, programs: Set(programs))
        RuleZone.refreshMachine()
        reading.reportTimeZone(isNeeded: rules.contains { $0.schedule?.zone == .machine })
    }
}

extension LaunchSettings.Applications {
    /// Reads `applications: true`, or a mapping.
    static func read(_ section: ConfigurationSection) -> Self? {
        if case .mapping? = section.node("applications") {
            let inside = section.section("applications")
            var settings = Self()
            if let limit = inside.durationOrOff("time-limit", .seconds(1)...(.seconds(7 * 86_400))) {
                settings.timeLimit = limit
            }
            if let interval = inside.duration("interval", .seconds(1)...(.seconds(86_400))) {
                settings.interval = interval
            }
            inside.finish()
            return settings
        }
        return section.boolean("applications") == true ? Self() : nil
    }
}
