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
            One YAML file has the sources of adverts, the regions, the events worth a notification, and their destinations. \
            Notifications are stored on the disk until each destination has received them.

              beacond setup --config beacond.yaml         make one in the browser, step by step, and go on with it
              beacond check beacond.yaml                  report every fault in it
              beacond schema                              print the JSON Schema of such files, for editors
              beacond --config beacond.yaml --dry-run     print notifications instead of sending them
              beacond --config beacond.yaml               run, until Ctrl-C or SIGTERM
              beacond outbox list                         list notifications that wait or were refused
              beacond open                                print the address of the console, if the file has "web: true"
              beacond ready                               ask whether the running beacond hears something
              beacond --fleet nats://hub                  take part in a fleet of several machines
              beacond restore beacond.backup              put a backup back that the console made
              beacond run --help                          list all options of running it

            Variables of the environment override the file: BEACOND_OUTBOX_PATH for outbox.path, \
            BEACOND_DESTINATIONS_CLOUD_URL for the url of the destination named cloud.

            SIGHUP has a running beacond read its configuration again. Started on a terminal, beacond ends with that.

            Exit status: 0 success, 1 the work failed or the file has faults, 2 the command line is at fault, \
            130 interrupted.
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
                "The kernel does not take capabilities from programs that are started: they may do what beacond may.")
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

    /// Returns what to say of a first argument that is neither an option nor a command, since the default command takes
    /// none; nil where it may stand.
    private static func mistakenCommand(_ argument: String?) -> String? {
        guard let argument, !argument.hasPrefix("-") else { return nil }
        let names = configuration.subcommands.map { $0._commandName } + ["help"]
        guard !names.contains(argument) else { return nil }
        if let nearest = SpellingSuggestion.to(argument, among: names) {
            return "There is no command \(argument); was \(nearest) meant?"
        }
        let isFile = FileManager.default.fileExists(atPath: argument)
        return "There is no command \(argument)"
            + (isFile ? "; a configuration is named with --config \(argument)." : "; \"beacond --help\" lists them.")
    }

    /// Ends the program: 0 for help, 2 where the command line is at fault, 1 where the work failed, and the number that
    /// a command chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            print(fullMessage(for: error))
            ProcessEnd.exit(0)
        }
        if let chosen = error as? ExitCode { ProcessEnd.exit(chosen.rawValue) }
        if code == .validationFailure {
            ErrorOutput.shared.write(fullMessage(for: error))
            ProcessEnd.exit(2)
        }
        ErrorOutput.shared.write("Error: \(error)")
        ProcessEnd.exit(1)
    }
}
