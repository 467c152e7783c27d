import ArgumentParser
import BeaconGateway

/// The command `beacond`.
@main
struct Beacond: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacond",
        abstract: "Watch for iBeacons, and deliver what happens to webhooks, Kumulos, MQTT and Home Assistant.",
        discussion: """
            Everything is said in one file of YAML: where adverts come from, which regions to watch for, what is worth a \
            notification, and where notifications go. They are kept on the disk until each destination has taken them.

              beacond check beacond.yaml                  tell every mistake in it
              beacond --config beacond.yaml --dry-run     print what would be sent
              beacond --config beacond.yaml               run, until Ctrl-C or SIGTERM
              beacond outbox list                         what is waiting, and what was refused
              beacond run --help                          all options of running it

            Variables of the environment come before the file: BEACOND_OUTBOX_PATH for outbox.path, \
            BEACOND_DESTINATIONS_CLOUD_URL for the url of the destination named cloud.

            Exit status: 0 success, 1 the work failed or the file has mistakes, 2 the command line is at fault, \
            130 interrupted.
            """,
        subcommands: [Run.self, Check.self, OutboxCommand.self], defaultSubcommand: Run.self)

    static func main() async {
        do {
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

    /// Ends the program: 0 for help, 2 where the command line is at fault, 1 where the work failed, and the number that a
    /// command chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            print(fullMessage(for: error))
            Process.exit(0)
        }
        if let chosen = error as? ExitCode { Process.exit(chosen.rawValue) }
        if code == .validationFailure {
            ErrorOutput.shared.write(fullMessage(for: error))
            Process.exit(2)
        }
        ErrorOutput.shared.write("Error: \(error)")
        Process.exit(1)
    }
}
