import ArgumentParser
import BeaconFleet
import BeaconGateway
import Foundation
import Logging

/// `beacond fleet`: looks at a fleet, gives it a configuration, and makes its accounts.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Look at a fleet of several machines, and set it up.",
        discussion: """
            A fleet is several beaconds that meet by NATS servers: each may hear, each may decide over a share of the beacons, \
            and where one dies another goes on. A machine joins with "fleet: nats://HOST" in its file, or with --fleet.

              beacond fleet status                        who is there, who decides over what, who is deaf
              beacond fleet publish --config new.yaml     give all machines the regions and places of a file
              beacond fleet accounts --worker hub --receiver hall --receiver shop > fleet-accounts.conf
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
                print(line)
            }
        }
    }

    struct Publish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give all machines the regions, places and named beacons of a file.",
            discussion:
                "They take the place of those that the fleet followed. Sources, destinations, rules and consoles stay each machine's own."
        )

        @OptionGroup var file: ConfigurationFile
        @OptionGroup var fleet: FleetOption

        func run() async throws {
            print(try await FleetTools.publish(fleet.apply(to: try file.read()), logger: FleetCommand.logger))
        }
    }

    struct Accounts: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the accounts of a fleet for NATS, or the rights of relays for mosquitto.",
            discussion: """
                Each machine gets a password, and may do no more than it needs: a receiver sends what it hears under its own \
                name, and changes nothing of the fleet. The output has the passwords as they are: keep it to yourself.
                """)

        @Option(help: ArgumentHelp("A machine that decides or delivers; may be repeated.", valueName: "node"))
        var worker: [String] = []

        @Option(help: ArgumentHelp("A machine that only hears; may be repeated.", valueName: "node"))
        var receiver: [String] = []

        @Option(help: ArgumentHelp("The fleet's name.", valueName: "name"))
        var name = "beacons"

        @Flag(help: "Print an access control list of mosquitto, for relays, instead of accounts of NATS.")
        var mosquitto = false

        @Option(help: ArgumentHelp("What stands before the relays' topics.", valueName: "topic"))
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
                throw ValidationError("Two machines have one name; give each a name of its own.")
            }
        }

        func run() {
            let file = AccountFile(receivers: receiver, workers: worker)
            print(mosquitto ? file.mosquitto(prefix: prefix) : file.nats(fleet: name), terminator: "")
        }
    }
}

/// The fleet that a machine joins, beside that of its file.
struct FleetOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The fleet's NATS servers: nats://HOST, or several with commas between them.",
            discussion:
                "It comes before \"fleet\" in the file, whose other keys still hold. \"local\" is a fleet of one.",
            valueName: "address"))
    var fleet: String?

    func validate() throws {
        guard let fleet else { return }
        do { _ = try FleetSettings(fleet) } catch {
            // The address may have a password in it.
            throw ValidationError(
                "--fleet: \(error). Write nats://HOST, or several hosts with commas between them.")
        }
    }

    /// Returns a configuration whose machine joins the fleet of the option, if there is one.
    func apply(to configuration: GatewayConfiguration) -> GatewayConfiguration {
        guard let fleet else { return configuration }
        var configuration = configuration
        configuration.join(fleet)
        return configuration
    }
}
