import BeaconConfiguration
import BeaconPrograms

/// The programs and applications that the daemon starts for events.
public struct LaunchSettings: Hashable, Sendable {
    /// The settings for starting terminated applications that monitor regions themselves.
    public struct Applications: Hashable, Sendable {
        /// The time limit of a started application; nil for none.
        public var timeLimit: Duration?

        /// The minimum time between two starts of an application.
        public var interval: Duration

        /// Creates the settings, by default for the applications of the user who runs the daemon, with a limit of 30 s:
        /// on iOS an application that was launched for a region has about ten, and a Raspberry Pi is slower.
        public init(timeLimit: Duration? = .seconds(30), interval: Duration = .seconds(10)) {
            self.timeLimit = timeLimit
            self.interval = interval
        }
    }

    /// The settings for applications; nil to start none.
    public var applications: Applications?

    /// The rules for programs and systemd units.
    public var rules: [Rule]

    /// Creates the settings from their parts.
    public init(applications: Applications? = nil, rules: [Rule] = []) {
        self.applications = applications
        self.rules = rules
    }
}

extension LaunchSettings.Applications {
    /// The keys of apps on Core Location.
    static let grammar = Grammar<Self>(
        Self(),
        [
            Setting(
                "time-limit", \.timeLimit, .durationOrOff(.seconds(1)...(.seconds(7 * 86_400))),
                "The time limit of a started app."),
            Setting(
                "interval", \.interval, .duration(.seconds(1)...(.seconds(86_400))),
                "The minimum time between two starts of an app."),
        ])
}

extension LaunchSettings {
    /// The keys of the programs and rules for events.
    static let grammar = Grammar<Self>(
        LaunchSettings(),
        [
            Setting(
                "applications", \.applications, .switch(Applications.grammar), default: "false",
                "Starts the user's apps on Core Location for their regions."),
            Setting(
                "rules", \.rules, .items("write a list of rules, each beginning with \"- name:\"", Rule.grammar),
                "The rules for events."),
        ])

    /// Reports files that other users can read or change, programs that cannot run, and an unknown time zone.
    func reportMachine(to reading: ConfigurationReading, file: String) {
        reading.reportExposure(of: file)
        for rule in rules where rule.isEnabled && rule.target != nil {
            guard let fault = EventProgram(rule).fault else { continue }
            reading.report(.machine, "the rule \(rule.name) will fail: \(fault)", severity: .warning)
        }
        RuleZone.refreshMachine()
        reading.reportTimeZone(isNeeded: rules.contains { $0.schedule?.zone == .machine })
    }
}
