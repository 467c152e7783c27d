import ArgumentParser
import BeaconFleet
import BeaconGateway
import BeaconTerminal
import Foundation
import Logging

/// `beacond fleet`: shows a fleet, publishes its configuration, and makes its accounts.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show a fleet of several machines, and set it up.",
        discussion: """
            A fleet is several beaconds that share NATS servers. Each can receive adverts, and each can decide about a \
            share of the beacons. If one fails, another takes over. A machine joins with "fleet: nats://HOST" in its \
            file, or with --fleet.

              beacond fleet status                     list machines and their receivers
              beacond fleet publish --config new.yaml  give all machines a file's regions
              beacond fleet accounts --worker hub --receiver hall > accounts.conf
            """,
        subcommands: [Status.self, Publish.self, Accounts.self], defaultSubcommand: Status.self)

    private static var logger: Logger { Logger(label: "beacond") { _ in SwiftLogNoOpLogHandler() } }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the fleet's machines, partitions and lag. This is the default.")

        @OptionGroup var file: ConfigurationFile
        @OptionGroup var fleet: FleetOption

        func run() async throws {
            for line in try await FleetTools.overview(fleet.apply(to: try file.read()), logger: FleetCommand.logger) {
                StandardOutput.write(line)
            }
        }
    }

    struct Publish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give all machines the regions, places and named beacons of a file.",
            discussion:
                "They replace the fleet's earlier ones. Sources, destinations, rules and consoles do not change."
        )

        @OptionGroup var file: ConfigurationFile
        @OptionGroup var fleet: FleetOption

        func run() async throws {
            StandardOutput.write(
                try await FleetTools.publish(fleet.apply(to: try file.read()), logger: FleetCommand.logger))
        }
    }

    struct Accounts: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the accounts of a fleet for NATS, or the rights of relays for mosquitto.",
            discussion: """
                Each machine gets a password and only the rights that it needs: a receiver can send adverts under its \
                own name, but cannot change the fleet. The output has the passwords in plain text: keep it secret.
                """)

        @Option(help: ArgumentHelp("A machine that decides or delivers; may be repeated.", valueName: "node"))
        var worker: [String] = []

        @Option(help: ArgumentHelp("A machine that only receives adverts; may be repeated.", valueName: "node"))
        var receiver: [String] = []

        @Option(help: ArgumentHelp("The fleet's name.", valueName: "name"))
        var name = "beacons"

        @Flag(help: "Print an access control list of mosquitto, for relays, instead of accounts of NATS.")
        var mosquitto = false

        @Option(help: ArgumentHelp("The prefix of the relays' topics.", valueName: "topic"))
        var prefix = ""

        func validate() throws {
            guard !worker.isEmpty || !receiver.isEmpty else {
                throw ValidationError("Name the machines, as in: --worker hub --receiver hall --receiver shop.")
            }
            guard FleetSettings.isName(name) else {
                throw ValidationError("--name is \(name); write 1 to 64 letters, digits, hyphens and underscores.")
            }
            let names = worker + receiver
            guard Set(names).count == names.count else {
                throw ValidationError("Two machines have the same name; rename one of them.")
            }
        }

        func run() {
            let file = AccountFile(receivers: receiver, workers: worker)
            StandardOutput.write(mosquitto ? file.mosquitto(prefix: prefix) : file.nats(fleet: name), terminator: "")
        }
    }
}

/// The option for the fleet that a machine joins.
struct FleetOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The fleet's NATS servers: nats://HOST, or several, separated by commas.",
            discussion:
                "It overrides the address in the file; its other keys still apply. \"local\" is a fleet of one.",
            valueName: "address"))
    var fleet: String?

    func validate() throws {
        guard let fleet else { return }
        do { _ = try FleetSettings(fleet) } catch {
            // The address may have a password in it.
            throw ValidationError(
                "--fleet: \(error). Write nats://HOST, or several hosts, separated by commas.")
        }
    }

    /// Returns a configuration that joins the fleet of the option, if there is one.
    func apply(to configuration: GatewayConfiguration) -> GatewayConfiguration {
        guard let fleet else { return configuration }
        var configuration = configuration
        configuration.join(fleet)
        return configuration
    }
}
