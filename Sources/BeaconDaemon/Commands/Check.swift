import ArgumentParser
import BeaconConfiguration
import BeaconGateway
import BeaconTerminal
import Foundation

/// `beacond check`: reports the faults of a configuration.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration, and report every fault in it.",
        discussion: """
            Each fault is a line with its place and its remedy, as compilers write theirs:

              beacond.yaml:12:5: error: there is no key "minimun-rssi" here; was "minimum-rssi" meant?

            It builds all that running builds, on this machine and with this environment, and has no effect. Secrets are also \
            looked for in the file beside it, of beacond.yaml in beacond.env. The daemon starts with what has no error; a \
            warning says what is less safe than it could be. Status 1 if there is an error, 0 if there are only warnings or \
            nothing.
            """)

    @Argument(
        help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @Flag(name: .shortAndLong, help: "Report errors alone, and nothing where there are none.")
    var quiet = false

    @OptionGroup(visibility: .hidden) var configuration: ConfigurationFile

    func run() throws {
        let path = file ?? configuration.path
        let checked = try GatewayConfiguration.check(file: path)
        for diagnostic in checked.diagnostics where !quiet || diagnostic.severity == .error {
            print(diagnostic.text(file: path))
        }
        let errors = checked.diagnostics.count { $0.severity == .error }
        guard errors == 0 else {
            ErrorOutput.shared.write("\(path) cannot be used: \(StatisticsText.count(errors, "error")).")
            throw ExitCode(1)
        }
        if !quiet { ErrorOutput.shared.write("\(path) can be used: \(Self.summary(checked)).") }
    }

    /// Returns what a configuration has, in words.
    private static func summary(_ checked: GatewayConfiguration.Checked) -> String {
        let configuration = checked.configuration
        let counts = [
            ("source", configuration.sources.count), ("region", configuration.regions.count),
            ("named beacon", configuration.beacons.count), ("destination", configuration.destinations.count),
        ]
        var parts = counts.compactMap { word, count in
            // That there is none of what nearly everybody has may be a mistake, and is told too.
            if count == 0 { return word == "named beacon" ? nil : "no \(word)" }
            return StatisticsText.count(count, word)
        }
        if !checked.diagnostics.isEmpty { parts.append(StatisticsText.count(checked.diagnostics.count, "warning")) }
        return parts.joined(separator: ", ")
    }
}
