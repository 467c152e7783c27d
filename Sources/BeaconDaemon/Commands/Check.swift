import ArgumentParser
import BeaconGateway
import Foundation

/// `beacond check`: reports the faults of a configuration.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration, and report every fault in it.",
        discussion: """
            Each fault is a line in the form of compilers, with its place and its remedy:

              beacond.yaml:12:5: error: there is no key "minimun-rssi" here; was "minimum-rssi" meant?

            It builds all that running builds, on this machine and with this environment, and has no effect. The daemon \
            starts with what has no error; a warning says what is less safe than it could be. Status 1 if there is an error, \
            0 if there are only warnings or nothing.
            """)

    @Argument(help: ArgumentHelp("The configuration.", valueName: "file"))
    var file: String?

    @OptionGroup(visibility: .hidden) var configuration: ConfigurationFile

    func run() throws {
        let path = file ?? configuration.path
        let checked = try GatewayConfiguration.check(file: path)
        for diagnostic in checked.diagnostics { print(diagnostic.text(file: path)) }
        if checked.diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
}

/// The path of the configuration.
struct ConfigurationFile: ParsableArguments {
    /// The default path.
    static let usual = "/etc/beacond.yaml"

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The configuration.",
            discussion: "Default: BEACOND_CONFIG in the environment, else \(Self.usual).", valueName: "file"))
    var config: String?

    /// The path from the option, else from the environment, else the default.
    var path: String { config ?? ProcessInfo.processInfo.environment["BEACOND_CONFIG"] ?? Self.usual }

    /// Reads the configuration, and prints its diagnostics on standard error.
    ///
    /// - Returns: the configuration, if it has none.
    /// - Throws: `ExitCode` 1 after a diagnostic was printed; ``ConfigurationError`` if the file cannot be read.
    func read() throws -> GatewayConfiguration {
        let checked = try GatewayConfiguration.check(file: path)
        for diagnostic in checked.diagnostics { ErrorOutput.shared.write(diagnostic.text(file: path)) }
        guard checked.isUsable else { throw ExitCode(1) }
        return checked.configuration
    }
}
