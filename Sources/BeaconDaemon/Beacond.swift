import ArgumentParser
import BeaconGateway
import BeaconPrograms
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacond`.
@main
struct Beacond: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacond",
        abstract: "Monitor iBeacons, and deliver their events to webhooks, Kumulos, MQTT and Home Assistant.",
        discussion: """
            One YAML file defines the sources of adverts, the regions, the events to report, and their destinations. \
            beacond keeps notifications on disk until each destination has received them.

                beacond setup --config beacond.yaml         make one in the browser, step by step, and use it
                beacond check beacond.yaml                  report every fault in a file
              beacond schema                              print the JSON Schema of such files, for editors
              beacond --config beacond.yaml --dry-run     print notifications instead of sending them
              beacond --config beacond.yaml               run, until Ctrl-C or SIGTERM
              beacond outbox list                         list waiting and refused notifications
              beacond open                                print the address of the console, if the file has "web: true"
                beacond ready                               check whether the running beacond can hear beacons
                beacond --fleet nats://hub                  join a fleet of several machines
                beacond restore beacond.backup              restore a backup from the console
                beacond run --help                          list all options of a run

            Environment variables override the file: BEACOND_OUTBOX_PATH for outbox.path, \
            BEACOND_DESTINATIONS_CLOUD_URL for the url of the destination named cloud.

            SIGHUP makes a running beacond read its configuration again. If it was started on a terminal, SIGHUP ends \
            it.

            Exit status: 0 for success, 1 for a failure or faults in the file, 2 for a mistake on the command line, \
            130 after an interruption.
            """,
        version: ProgramVersion.current,
        subcommands: [
            Run.self, Check.self, Schema.self, Setup.self, OutboxCommand.self, FleetCommand.self, Open.self,
            TokenCommand.self, Ready.self, Restore.self,
        ], defaultSubcommand: Run.self)

    static func main() async {
        if let obstacle = ProgramArguments.obstacle {
            ErrorOutput.shared.write("Error: \(obstacle)")
            ProcessEnd.exit(1)
        }
        InitProcess.superviseIfFirst()
        if !ProcessPrivileges.settle() {
            ErrorOutput.shared.write(
                "Cannot withhold capabilities from started programs: they can do whatever beacond can.")
        }
        do {
            if let mistake = mistakenCommand(CommandLine.arguments.dropFirst().first) { throw ValidationError(mistake) }
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(with: error)
        }
    }

    /// Returns the message for a first argument that is neither an option nor a command; nil if it is valid.
    ///
    /// The default command takes no arguments.
    private static func mistakenCommand(_ argument: String?) -> String? {
        guard let argument, !argument.hasPrefix("-") else { return nil }
        let names = configuration.subcommands.map { $0._commandName } + ["help"]
        guard !names.contains(argument) else { return nil }
        if let nearest = SpellingSuggestion.to(argument, among: names) {
            return "There is no command \(argument); was \(nearest) meant?"
        }
        let isFile = FileManager.default.fileExists(atPath: argument)
        return "There is no command \(argument)"
            + (isFile ? "; pass a configuration with --config \(argument)." : "; \"beacond --help\" lists them.")
    }

    /// Ends the program: 0 for help, 2 for a mistake on the command line, 1 for a failure, or the status that a command
    /// chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            print(fullMessage(for: error))
            ProcessEnd.exit(0)
        }
        if let chosen = error as? ExitCode { ProcessEnd.exit(chosen.rawValue) }
        if code == .validationFailure {
            let name = CommandLine.arguments.dropFirst().first
            let command: any ParsableCommand.Type =
                configuration.subcommands.first { $0._commandName == name } ?? Self.self
            let help = helpMessage(for: command)
            ErrorOutput.shared.write(SpellingSuggestion.correctingOption(in: fullMessage(for: error), help: help))
            ProcessEnd.exit(2)
        }
        ErrorOutput.shared.write("Error: \(error)")
        ProcessEnd.exit(1)
    }
}
