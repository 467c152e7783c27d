import ArgumentParser
import BeaconGateway
import BeaconSupport
import CLibrary
import Foundation

/// `beacond restore`: puts a backup back.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup back that the console made.",
        discussion: """
            It has the configuration, what was set in the console, installs and messages, the presence and the history. \
            beacond must not run. Files that are there are kept beside, and a configuration that is there stays: that \
            of the backup lies beside it then.

            On a new machine, say where the state is to be: with --outbox, as BEACOND_OUTBOX_PATH, or in the \
            configuration. Else it is where beacond keeps it by default.
            """)

    @Argument(help: ArgumentHelp("The backup.", valueName: "backup"))
    var backup: String

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "The event store to make.",
            discussion: "Default: that of the configuration, which for /etc/beacond.yaml is the service's.",
            valueName: "file"))
    var outbox: String?

    func run() throws {
        umask(0o077)
        var path = GatewayConfiguration.outboxPath(in: GatewayConfiguration.stateFolder(file.environment))
        if let outbox {
            path = URL(fileURLWithPath: outbox).path
        } else if FileManager.default.fileExists(atPath: file.path) {
            path = try file.read().outbox.path
        } else if let given = ProcessInfo.processInfo.environment["BEACOND_OUTBOX_PATH"] {
            path = given
        }
        let restored = try Backup.restore(
            from: URL(fileURLWithPath: backup), to: path, configuration: file.path)
        print("The state is \(path).")
        if let path = restored.setAside { print("The file of before is \(path) now.") }
        if let path = restored.configuration {
            print(
                path == file.path
                    ? "The configuration is \(path)."
                    : "\(file.path) stays as it is; the configuration of the backup is \(path).")
        }
    }
}
