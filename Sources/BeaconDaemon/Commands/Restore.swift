import ArgumentParser
import BeaconGateway
import BeaconSupport
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond restore`: restores a backup.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore a backup from the console.",
        discussion: """
            A backup has the configuration, the settings made in the console, installs and messages, presence and \
            history. Stop beacond first. An existing event store is set aside. An existing configuration stays, and \
            the configuration of the backup is put beside it.

            On a new machine, choose the location of the state with --outbox, BEACOND_OUTBOX_PATH or the \
            configuration. Without them, the state is in beacond's default location.
            """)

    @Argument(help: ArgumentHelp("The backup.", valueName: "backup"))
    var backup: String

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "The event store to create.",
            discussion: "Default: the outbox of the configuration; for /etc/beacond.yaml, the service's outbox.",
            valueName: "file"))
    var outbox: String?

    func run() throws {
        umask(0o077)
        var path = GatewayConfiguration.outboxPath(in: GatewayConfiguration.stateFolder(file.environment))
        if let outbox {
            path = URL(fileURLWithPath: outbox).path
        } else if FileManager.default.fileExists(atPath: file.path) {
            // Faults elsewhere in the file do not matter here: after a downgrade, it has keys of the later version.
            path = try GatewayConfiguration.check(file: file.path, environment: file.environment)
                .configuration.outbox.path
        } else if let given = ProcessInfo.processInfo.environment["BEACOND_OUTBOX_PATH"] {
            path = given
        }
        let restored = try Backup.restore(
            from: URL(fileURLWithPath: backup), to: path, configuration: file.path)
        StandardOutput.write("The state is in \(path).")
        if let path = restored.setAside { StandardOutput.write("The earlier state is now in \(path).") }
        if let path = restored.configuration {
            StandardOutput.write(
                path == file.path
                    ? "The configuration is \(path)."
                    : "\(file.path) is unchanged; the configuration of the backup is \(path).")
        }
    }
}
