import BeaconApplications
public import BeaconConfiguration
public import BeaconDelivery
public import BeaconFleet
package import BeaconModel
public import BeaconMonitoring
import BeaconReceivers
package import BeaconRelay
import BeaconSupport
public import Foundation
public import Logging

/// The configuration of the daemon.
public struct GatewayConfiguration: Sendable {
    /// The sources of adverts.
    public var sources: [SourceSettings] = []

    /// The regions to monitor.
    public var regions: [RegionSettings] = []

    /// The named beacons.
    public var beacons: [BeaconSettings] = []

    /// The places for locating named beacons and beacons of all regions; nil for none.
    public var places: PlacePlan?

    /// The settings of the search for cloned beacons; nil for no search.
    public var suspicions: SuspicionSettings?

    /// The calibrations of receivers and beacons.
    public var calibrations = CalibrationSet()

    /// True to learn the offsets of beacons, and of receivers that move.
    public var learnsOffsets = true

    /// The rules for notifications.
    public var notify = NotificationRules()

    /// The destinations of notifications.
    public var destinations: [DestinationSettings] = []

    /// The event store with the queue of notifications.
    public var outbox: OutboxSettings

    /// The settings of the journal; nil for none.
    package var journal: JournalSettings? = JournalSettings()

    /// The programs and applications to start for events.
    public var launch = LaunchSettings()

    /// The console in the browser; nil for none.
    public var web: WebSettings?

    /// The devices that forward adverts to others; nil for none.
    package var proxy: ProxySettings?

    /// The fleet that the machine is part of; nil for none.
    public var fleet: FleetSettings?

    /// The apps and other senders whose events are accepted.
    public var intake = IntakeSettings()

    /// The configured regions, beacons, places and rules: first the file's, then the console's, including those that
    /// are not in use.
    package var items: [ConfigurationItem] = []

    /// The origins of the secrets that the file and the console's items refer to.
    package var secretSources = SecretSources()

    /// The keys of the file whose values are secrets of the console, by the secrets' names.
    package var usedSecrets: [String: [String]] = [:]

    /// The guided start; nil if there is a configuration.
    package var setup: GuidedStart?

    /// True while the guided start runs.
    package var isSetup: Bool { setup != nil }

    /// The path of the file that it was read from.
    public var path: String?

    /// The settings of the log.
    public var log = LogSettings()

    /// Creates a configuration without sources, regions and destinations.
    public init(outbox: OutboxSettings) { self.outbox = outbox }
}

extension GatewayConfiguration {
    /// Returns the default folder of the daemon's state: the folder that systemd created for it (`StateDirectory=` in
    /// systemd.exec(5)), otherwise one in the user's state directory.
    public static func stateFolder(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // systemd separates several folders with colons.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        return StateDirectory.user.url.appendingPathComponent("beacond").path
    }

    /// Returns the path of the outbox in a folder of state.
    public static func outboxPath(in folder: String) -> String { folder + "/beacond.sqlite" }
}

extension GatewayConfiguration {
    /// The result of reading a configuration: its valid part, and the diagnostics.
    public struct Checked: Sendable {
        /// The part without faults.
        public var configuration: GatewayConfiguration
        /// The diagnostics, in the order of the file, then of the environment.
        public var diagnostics: [Diagnostic]

        /// True if the daemon may start with it.
        public var isUsable: Bool { !diagnostics.contains { $0.severity == .error } }
    }

    /// The largest file, in bytes.
    private static let largestFile = 1 << 20

    /// Reads and checks a file, with the environment and the file of secrets beside it. For `beacond.yaml` that is
    /// `beacond.env`, with lines of `NAME=value`.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read. Faults in its content are in the result.
    public static func check(
        file: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Checked {
        guard FileManager.default.fileExists(atPath: file) else {
            throw ConfigurationError(
                .cannotRead,
                "cannot read \(file): there is no such file; name the configuration with --config, or create one in the browser with \"beacond setup\""
            )
        }
        var bytes: [UInt8]
        do {
            bytes = try SmallFile.contents(path: file, limit: largestFile)
        } catch {
            throw ConfigurationError(.cannotRead, error.message, cause: error)
        }
        // Editors of other systems add a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(.cannotRead, "cannot read \(file): a configuration must be UTF-8 text")
        }
        return check(text, asFile: file, environment: environment)
    }

    /// Checks a text as the content of a file, with the environment and the file of secrets beside it.
    package static func check(
        _ text: String, asFile file: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Checked {
        let folder = URL(fileURLWithPath: file).absoluteURL.deletingLastPathComponent()
        var checked = check(
            text, folder: folder, environment: environment, file: file, secrets: EnvironmentFile(beside: file))
        checked.configuration.path = URL(fileURLWithPath: file).path
        return checked
    }

    /// Checks a configuration's text.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - folder: the folder that relative paths are resolved against.
    ///   - environment: variables, which override the text.
    public static func check(_ text: String, folder: URL, environment: [String: String]) -> Checked {
        check(text, folder: folder, environment: environment, file: nil, secrets: nil)
    }

    private static func check(
        _ text: String, folder: URL, environment: [String: String], file: String?, secrets: EnvironmentFile?
    ) -> Checked {
        let document = YAMLDocument(text)
        // If the text is not YAML, all other diagnostics would be wrong.
        let content = document.content
        var configuration = GatewayConfiguration(
            outbox: OutboxSettings(path: outboxPath(in: stateFolder(environment))))
        let store = storePath(content, environment, secrets, folder: folder) ?? configuration.outbox.path
        configuration.secretSources = SecretSources(
            environment: environment, file: secrets, stored: StoredSecrets(besideStore: store))
        let reading = ConfigurationReading(document, sources: configuration.secretSources, folder: folder)
        reading.report(document.diagnostics)
        reading.reportSecretsFaults()
        if content != nil || document.diagnostics.isEmpty {
            let root = ConfigurationSection(content, in: reading)
            _ = grammar.fill(&configuration, from: root)
            root.finish()
            reading.reportUnknownVariables()
        }
        configuration.usedSecrets = reading.usedSecrets
        if let file { configuration.launch.reportMachine(to: reading, file: file) }
        return Checked(configuration: configuration, diagnostics: reading.sortedDiagnostics)
    }
}

extension GatewayConfiguration {
    /// Returns the path of the event store in a file's content. The reading needs it first, since secrets are beside
    /// it.
    private static func storePath(
        _ content: JSONValue?, _ environment: [String: String], _ secrets: EnvironmentFile?, folder: URL
    ) -> String? {
        let reading = ConfigurationReading(
            sources: SecretSources(environment: environment, file: secrets), folder: folder)
        return ConfigurationSection(content, in: reading).section("outbox").read("path", .path)
    }

    /// The keys of the file.
    static let grammar = Grammar<Self>(
        GatewayConfiguration(outbox: OutboxSettings(path: "")),
        [
            key("sources", SourceSettings.shape, "The sources of adverts.") { $1.sources = SourceSettings.read($0) },
            key("regions", .items(RegionSettings.grammar.shape), "The regions to monitor.") {
                $1.regions = RegionSettings.read($0)
                $0.reading.context.define($1.regions.map(\.name), "region")
            },
            key("beacons", .items(BeaconSettings.grammar.shape), "The named beacons.") {
                $1.beacons = BeaconSettings.read($0)
                for index in $1.regions.indices {
                    if let fault = $1.regions[index].findBeacon(among: $1.beacons) {
                        $0.report($0.place(of: "regions"), fault)
                    }
                }
            },
            key("taught-places", .path, "The file that `beacon teach` wrote.") {
                $1.places = PlacePlan.read($0)
            },
            key(
                "places", .items(PlacePlan.Place.grammar.shape),
                "The places in which beacons are located."),
            key("place-rules", PlaceRules.grammar.shape, "The rules by which a beacon changes its place."),
            key("calibration", .path, "The file that `beacon calibrate --save` wrote.") {
                if let calibrations = $0.read("calibration", .file { try CalibrationSet(file: $0) }) {
                    $1.calibrations = calibrations
                }
                for (kind, key) in [
                    (ConfigurationItem.Kind.region, "regions"), (.beacon, "beacons"), (.place, "places"),
                    (.source, "sources"), (.destination, "destinations"),
                ] {
                    $1.items += ConfigurationItem.ofFile(kind, $0.value(key))
                }
            },
            Setting(
                "exponent", \.calibrations.exponent, .exponent,
                default: "that of the calibration file, or 1.75",
                "How fast signals fall beyond one meter: 2 in open air."),
            Setting(
                "learned-offsets", \.learnsOffsets, .boolean,
                "Learns how much beacons, and receivers that move, differ from others of their kind."),
            Setting(
                "suspicious", \.suspicions, .switch(SuspicionSettings.grammar), default: "false",
                "Searches for beacons that may have been cloned."),
            Setting(
                "notify", \.notify, .mapping(NotificationRules.grammar), "The events that are worth a notification."),
            key("destinations", DestinationSettings.shape, "The destinations of notifications.") {
                $1.destinations = DestinationSettings.read($0, in: $1)
            },
            key("outbox", OutboxSettings.grammar.shape, "The event store, with events that wait for delivery.") {
                let section = $0.section("outbox")
                _ = OutboxSettings.grammar.fill(&$1.outbox, from: section)
                section.finish()
            },
            key(
                "journal", .either([.boolean, JournalSettings.grammar.shape]), default: "true",
                "Keeps what receivers hear of named beacons and of regions, so that it can be replayed."
            ) {
                if $0.has("journal") { $1.journal = $0.read("journal", .switch(JournalSettings.grammar)) }
            },
            key("intake", IntakeSettings.grammar.shape, "The senders whose events are accepted.") {
                $1.intake = IntakeSettings.grammar.read($0.section("intake")) ?? IntakeSettings()
            },
            key("launch", LaunchSettings.grammar.shape, "The programs and rules for events.") {
                $1.defineForRules(in: &$0.reading.context)
                $0.reading.context.historyAge = $1.historyAge(in: $0)
                let section = $0.section("launch")
                $1.launch = LaunchSettings.grammar.read(section) ?? LaunchSettings()
                $1.items += ConfigurationItem.ofFile(.rule, section.value("rules"))
            },
            key("web", .either([.boolean, WebSettings.grammar.shape]), default: "false", "The console in the browser.")
            {
                let earlier = $0.reading.diagnostics.count
                $1.web = WebSettings.read($0)
                if $1.web == nil, $0.reading.diagnostics.count == earlier { $1.reportSendersWithoutConsole($0) }
            },
            key(
                "proxy", .either([.boolean, ProxySettings.grammar.shape]), default: "false",
                "Forwards all adverts, as a Bluetooth proxy of ESPHome."
            ) {
                $1.proxy = ProxySettings.read($0, sources: $1.sources)
            },
            key(
                "fleet", .either([.text(shortest: 1), FleetSettings.grammar.shape]), default: "none",
                "The machines that decide together."
            ) { $1.fleet = FleetSettings.read($0) },
            Setting("log", \.log, .mapping(LogSettings.grammar), "The log."),
        ]
    ) { root, configuration, isWhole in
        configuration.checkSourcesAndRegions(root)
        configuration.giveTagsTime()
        configuration.separateAnnouncements()
        return isWhole
    }

    /// Creates a key whose value depends on other keys.
    private static func key(
        _ key: String, _ shape: SettingShape, default fallback: String? = nil, _ help: String,
        read: @escaping @Sendable (ConfigurationSection, inout GatewayConfiguration) -> Void = { _, _ in }
    ) -> Setting<GatewayConfiguration> {
        Setting(key, shape, help, default: { _ in fallback }) { section, configuration in
            read(section, &configuration)
            return true
        }
    }

    /// Defines the names that rules may refer to, and the beacons that rules need.
    func defineForRules(in context: inout ConfigurationContext) {
        context.define(regions.map(\.name), "region")
        context.define(beacons.map(\.name), "beacon")
        context.define(destinations.map(\.name), "destination")
        context.define((places?.placeNames ?? []) + beacons.compactMap(\.place), "place")
        context.beacons = beaconNames
        context.hasPlaces = places != nil
        context.historyAge = web?.historyAge
        context.learnsOfClones = suspicions != nil || !intake.webhooks.isEmpty || !tags.isEmpty
    }

    /// Returns the age of the history, which rules need before the console is read; nil without a console.
    private func historyAge(in root: ConfigurationSection) -> Duration? {
        let content = root.value("web").map { JSONValue.object(["web": $0]) }
        return WebSettings.read(ConfigurationSection(content, in: ConfigurationReading(sources: secretSources)))?
            .historyAge
    }

    /// The tags to recognize.
    package var tags: [DeviceTag] { beacons.compactMap(\.tag) }

    /// Gives tags their own time to be silent in the places.
    mutating func giveTagsTime() {
        let times = beacons.filter { $0.tag != nil }.map { ($0.identity, $0.region.exitTimeout) }
        places?.rules.exitTimeouts = Dictionary(times) { first, _ in first }
    }

    /// Reports gateways and senders of events that post. Call it if there is no console for them.
    private func reportSendersWithoutConsole(_ root: ConfigurationSection) {
        if sources.contains(where: { $0.specification.network is PostedSource }) {
            root.report(root.origin, "gateways that post need the console to receive adverts; write \"web: true\"")
        }
        if !intake.apps.isEmpty || !intake.webhooks.isEmpty {
            root.report(
                root.place(of: "intake"), "\"intake\" needs the console to receive events; write \"web: true\"")
        }
    }

    /// Reports a configuration without sources or regions.
    private func checkSourcesAndRegions(_ root: ConfigurationSection) {
        if sources.isEmpty, !root.has("sources") {
            root.reportMissing(
                "sources",
                "name a source of adverts, as in \"sources: [auto]\"; \"sources: []\" is for a machine that only receives events of others"
            )
        }
        // With a console, regions can be added there.
        if regions.isEmpty, !root.has("regions"), launch.applications == nil, web == nil, fleet == nil {
            root.reportMissing("regions", "list the regions to monitor, each with a name and a uuid")
        }
    }
}

/// The settings of the log.
public struct LogSettings: Hashable, Sendable {
    /// The minimum level.
    public var level = Logger.Level.info

    /// The keys of the log.
    static let grammar = Grammar<Self>(
        LogSettings(),
        [
            Setting(
                "level", \.level, .word(Logger.Level.allCases.map { ($0.rawValue, $0) }),
                "The minimum level of log lines.")
        ])
}

extension SettingKind<Double> {
    /// The exponent of a site.
    fileprivate static let exponent = SettingKind(.number(above: 0), "write a number from 1 to 6") { text in
        Double(text).flatMap { CalibrationSet.exponents.contains($0) ? $0 : nil }
    }
}
