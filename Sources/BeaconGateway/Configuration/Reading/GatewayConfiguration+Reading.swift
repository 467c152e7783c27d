import BeaconDelivery
public import Foundation
import Logging
import Yams

extension GatewayConfiguration {
    /// What a reading gave: the configuration as far as it can be used, and what is wrong with it.
    public struct Checked: Sendable {
        /// What could be read.
        public var configuration: GatewayConfiguration
        /// What is wrong, in the order of the file, then of the environment.
        public var mistakes: [Mistake]

        /// Whether the daemon may start with it.
        public var isUsable: Bool { mistakes.isEmpty }
    }

    /// The most that a configuration's file may have.
    private static let largestFile = 1 << 20

    /// Reads and checks a file.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read. What is wrong with its content is in the result.
    public static func check(
        file: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Checked {
        guard FileManager.default.fileExists(atPath: file) else {
            throw ConfigurationError(.cannotRead, "there is no configuration at \(file)")
        }
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw ConfigurationError(
                .cannotRead, "\(file) cannot be read: \(error.localizedDescription)", cause: error)
        }
        guard data.count <= largestFile, let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(
                .cannotRead, "\(file) is no configuration: it is not text in UTF-8 of at most \(largestFile >> 20) MiB")
        }
        let folder = URL(fileURLWithPath: file).absoluteURL.deletingLastPathComponent()
        return check(text, folder: folder, environment: environment)
    }

    /// Checks a configuration's text.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - folder: where relative paths are meant from.
    ///   - environment: variables, which come before the text.
    public static func check(_ text: String, folder: URL, environment: [String: String]) -> Checked {
        let document = YAMLDocument(text)
        let reading = ConfigurationReading(environment: environment, folder: folder)
        reading.report(document.mistakes)
        var configuration = GatewayConfiguration(
            outbox: OutboxSettings(path: outboxPath(in: stateFolder(environment))))
        // Where the text is no YAML, all else that could be said would be wrong.
        if document.root != nil || document.mistakes.isEmpty {
            configuration.read(ConfigurationSection(document.root, at: [], in: reading))
            reading.reportUnknownVariables()
        }
        return Checked(configuration: configuration, mistakes: reading.sortedMistakes)
    }

    private mutating func read(_ root: ConfigurationSection) {
        sources = SourceSettings.read(root)
        regions = RegionSettings.read(root)
        beacons = BeaconSettings.read(root)
        let names = Set(regions.map(\.name))
        notify = NotificationRules.read(root.section("notify"), regions: names)
        destinations = DestinationSettings.read(root, regions: names)
        outbox.read(root.section("outbox"))
        launch = LaunchSettings.read(root, regions: names)
        let log = root.section("log")
        if let level = log.choice("level", Logger.Level.allCases.map { ($0.rawValue, $0) }) { logLevel = level.value }
        log.finish()
        root.finish()
        if sources.isEmpty, !root.has("sources") {
            root.reportMissing("sources", "say where adverts come from, as in \"sources: [auto]\"")
        }
        if regions.isEmpty, !root.has("regions"), launch.applications == nil {
            root.reportMissing("regions", "say what to watch for: a list of regions, each with a name and a uuid")
        }
    }
}
