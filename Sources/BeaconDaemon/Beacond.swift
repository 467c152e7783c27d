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

              beacond setup --config beacond.yaml       set it up in the browser
              beacond import config.yaml                take over from another system
              beacond check beacond.yaml                report every fault in a file
              beacond schema                            print the JSON Schema for editors
              beacond --config beacond.yaml --dry-run   print notifications; send none
              beacond --config beacond.yaml             run, until Ctrl-C or SIGTERM
              beacond outbox list                       list waiting notifications
              beacond open                              print the console's address
              beacond ready                             check that a receiver hears
              beacond --fleet nats://hub                join a fleet of machines
              beacond restore beacond.backup            restore a backup
              beacond replay --from 22:00               play what was heard again
              beacond run --help                        list all options of a run

            Environment variables override the file: BEACOND_OUTBOX_PATH for outbox.path, \
            BEACOND_DESTINATIONS_CLOUD_URL for the url of the destination named cloud.

            SIGHUP makes a running beacond read its configuration again. If it was started on a terminal, SIGHUP ends \
            it.

            Exit status: 0 for success, 1 for a failure or faults in the file, 2 for a mistake on the command line, \
            130 after an interruption.
            """,
        version: ProgramVersion.current,
        subcommands: [
            Run.self, Check.self, Schema.self, Setup.self, ImportCommand.self, OutboxCommand.self, FleetCommand.self,
            Open.self, TokenCommand.self, Ready.self, Restore.self, ReplayCommand.self,
        ], defaultSubcommand: Run.self)

    static func main() async {
        Terminal.openClosedStreams()
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
            // The default command takes no arguments.
            let names = CommandNames(
                program: "beacond",
                commands: Dictionary(
                    uniqueKeysWithValues: configuration.subcommands.map {
                        ($0._commandName, $0.configuration.subcommands.map { $0._commandName })
                    }))
            let mistake = names.mistake(in: CommandLine.arguments.dropFirst()) {
                FileManager.default.fileExists(atPath: $0) ? "pass a configuration with --config \($0)." : nil
            }
            if let mistake { throw ValidationError(mistake) }
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

    /// Ends the program: 0 for help, 2 for a mistake on the command line, 1 for a failure, or the status that a command
    /// chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            StandardOutput.write(fullMessage(for: error))
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
