import ArgumentParser
import BeaconGateway
import Foundation

/// Where the configuration is.
struct ConfigurationFile: ParsableArguments {
    /// Where it is where nobody says.
    static let usual = "/etc/swift-beacon/beacond.yaml"

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The configuration.",
            discussion: "Default: BEACOND_CONFIG in the environment, else \(Self.usual).", valueName: "file"))
    var config: String?

    /// The file's path.
    var path: String { config ?? ProcessInfo.processInfo.environment["BEACOND_CONFIG"] ?? Self.usual }

    /// Reads it, and tells what is wrong.
    ///
    /// - Returns: the configuration, if nothing is.
    /// - Throws: `ExitCode` 1 where something is wrong, and has been told.
    func read() throws -> GatewayConfiguration {
        let checked = try GatewayConfiguration.check(file: path)
        for mistake in checked.mistakes { ErrorOutput.shared.write(mistake.text(file: path)) }
        guard checked.isUsable else { throw ExitCode(1) }
        return checked.configuration
    }
}
