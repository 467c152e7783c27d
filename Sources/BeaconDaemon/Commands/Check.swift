import ArgumentParser
import BeaconGateway

/// `beacond check`: what is wrong with a configuration.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration, and tell every mistake in it.",
        discussion: """
            Each mistake is a line as compilers print theirs, with what was found and what was meant:

              beacond.yaml:12:5: error: there is no key "minimun-rssi" here; was "minimum-rssi" meant?

            A warning is about this machine and not about the file: a secret or a file that is not here. The daemon does not \
            start with it. Status 1 if there is an error, 0 if there are only warnings or nothing.
            """)

    @Argument(help: ArgumentHelp("The configuration.", valueName: "file"))
    var file: String?

    @OptionGroup(visibility: .hidden) var configuration: ConfigurationFile

    func run() throws {
        let path = file ?? configuration.path
        let checked = try GatewayConfiguration.check(file: path)
        for mistake in checked.mistakes { print(mistake.text(file: path)) }
        if checked.mistakes.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
}
