import ArgumentParser
import BeaconConfiguration
import BeaconGateway
import BeaconSupport
import BeaconTerminal
import Foundation

/// `beacond check`: reports the faults of a configuration.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration, and report every fault in it.",
        discussion: """
            Each fault is a line with its position and its remedy, in the form of a compiler's:

              beacond.yaml:12:5: error: there is no key "uud" here; was "uuid" meant?

            The check builds everything that a run builds, on this machine and with this environment, but has no \
            effect. It also reads secrets from the file beside the configuration, beacond.env for beacond.yaml, and \
            those that were set in the console. The \
            daemon starts with a configuration without errors; a warning names something that could be safer. Status 1 \
            if there is an error, else 0.
            """)

    @Argument(
        help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @Flag(name: .shortAndLong, help: "Report only errors.")
    var quiet = false

    @OptionGroup(visibility: .hidden) var configuration: ConfigurationFile

    func run() throws {
        let path = file ?? configuration.path
        var target = configuration
        target.config = path
        // The service's secrets are in its state folder.
        let checked = try GatewayConfiguration.check(file: path, environment: target.environment)
        for diagnostic in checked.diagnostics where !quiet || diagnostic.severity == .error {
            StandardOutput.write(diagnostic.text(file: path))
        }
        let errors = checked.diagnostics.count { $0.severity == .error }
        guard errors == 0 else {
            ErrorOutput.shared.write("\(path) cannot be used: \(errors.counted("error")).")
            throw ExitCode(1)
        }
        if !quiet { ErrorOutput.shared.write("\(path) can be used: \(Self.summary(checked)).") }
    }

    /// Returns the number of each part of a configuration, in words.
    private static func summary(_ checked: GatewayConfiguration.Checked) -> String {
        let configuration = checked.configuration
        let counts = [
            ("source", configuration.sources.count), ("region", configuration.regions.count),
            ("named beacon", configuration.beacons.count), ("destination", configuration.destinations.count),
        ]
        var parts = counts.compactMap { word, count in
            // Nearly every configuration has the other parts, so a missing one may be a mistake.
            if count == 0 { return word == "named beacon" ? nil : "no \(word)" }
            return count.counted(word)
        }
        if !checked.diagnostics.isEmpty { parts.append(checked.diagnostics.count.counted("warning")) }
        return parts.joined(separator: ", ")
    }
}
