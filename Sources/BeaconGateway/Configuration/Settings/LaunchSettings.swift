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

extension LaunchSettings.Applications {
    /// The keys of apps on Core Location.
    static let grammar = Grammar<Self>(
        Self(),
        [
            Setting(
                "time-limit", \.timeLimit, .durationOrOff(.seconds(1)...(.seconds(7 * 86_400))),
                "The time that a started app may run."),
            Setting(
                "interval", \.interval, .duration(.seconds(1)...(.seconds(86_400))),
                "The least time from one start of an app to the next."),
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
