import ArgumentParser
import BeaconConfiguration
import BeaconGateway
import BeaconTerminal
import Foundation

/// The path of the configuration.
struct ConfigurationFile: ParsableArguments {
    /// The default path: the configuration of the machine's service.
    static let usual = "/etc/beacond.yaml"

    /// The folder that systemd creates for the state of the machine's service (`StateDirectory=` in systemd.exec(5)).
    private static let serviceState = "/var/lib/beacond"

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The configuration.",
            discussion: "Default: BEACOND_CONFIG in the environment, else \(Self.usual).", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    /// The path from the option, else from the environment, else the default.
    var path: String { config ?? ProcessInfo.processInfo.environment["BEACOND_CONFIG"] ?? Self.usual }

    /// True if it is the configuration of the machine's service.
    var isOfService: Bool {
        path == Self.usual && FileManager.default.fileExists(atPath: Self.serviceState)
    }

    /// The outbox of the service if its configuration names none.
    var outboxOfService: String { GatewayConfiguration.outboxPath(in: Self.serviceState) }

    /// The environment to find the state of a running beacond: this process's, with the state folder of the service for
    /// the service's configuration.
    var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        if isOfService, environment["STATE_DIRECTORY"] == nil { environment["STATE_DIRECTORY"] = Self.serviceState }
        return environment
    }

    /// Reads the configuration to find the state of a running beacond, and prints its diagnostics to standard error.
    ///
    /// - Returns: the configuration, if it is usable.
    /// - Throws: `ExitCode` 1 if it is not, after its diagnostics were printed; ``ConfigurationError`` if the file
    ///   cannot be read.
    func read() throws -> GatewayConfiguration { try read(environment) }

    /// Reads the configuration to run it in this process, with this process's own state.
    func readForRunning() throws -> GatewayConfiguration { try read(ProcessInfo.processInfo.environment) }

    private func read(_ environment: [String: String]) throws -> GatewayConfiguration {
        let checked = try GatewayConfiguration.check(file: path, environment: environment)
        for diagnostic in checked.diagnostics { ErrorOutput.shared.write(diagnostic.text(file: path)) }
        guard checked.isUsable else { throw ExitCode(1) }
        return checked.configuration
    }
}
