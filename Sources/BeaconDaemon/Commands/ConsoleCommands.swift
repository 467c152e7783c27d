import ArgumentParser
import BeaconConsole
import BeaconGateway
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond open`: where the console is.
struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the address of the console, to open in a browser.",
        discussion: """
            The console shows who is where, since when and why, and what beacond does about it. The key "web" of the \
            configuration turns it on: "web: true" for the browsers of this machine.

            Where it asks for a token, the address signs one browser in, once, within ten minutes.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "The outbox of the running beacond.",
            discussion: "Default: that of the configuration, which for /etc/beacond.yaml is the service's.",
            valueName: "file"))
    var outbox: String?

    func run() throws {
        umask(0o077)
        let settings = try file.read()
        guard let web = settings.web else {
            throw ValidationError(
                "\(file.path) has no console; write \"web: true\" into it. While \"beacond setup\" runs, its console has "
                    + "the address that it printed.")
        }
        guard web.tokenHash != nil else { return print(web.address) }
        do {
            print(web.address + "#code=" + (try ConsoleLink(settings, outbox: outbox).code))
        } catch {
            print(web.address)
            ErrorOutput.shared.write(
                "It asks for the token that \"beacond token\" printed, once for each browser. A link that signs in cannot "
                    + "be made: \(error). Run this as the user who runs beacond.")
        }
    }
}

/// `beacond ready`: whether a running beacond hears.
struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask whether the running beacond hears something.",
        discussion: """
            Status 0 once a receiver of it hears, and else 1, with the reason: for the health checks of containers and \
            orchestrators, and for scripts that wait. It asks the console, which the configuration needs ("web: true").
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let settings = try file.read()
        guard let web = settings.web else {
            throw ValidationError("\(file.path) has no console to ask; write \"web: true\" into it.")
        }
        try await ReadinessCheck(web).run()
    }
}

/// `beacond token`: a token for the console.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for the console, and the line of the configuration that accepts it.",
        discussion: """
            Where others can reach the console it asks for a token. The configuration has only its hash, from which \
            nobody can make the token again: keep what is printed first.
            """)

    func run() {
        let token = AccessToken()
        print("token:      \(token.text)")
        print("token-hash: \(token.hash)")
        ErrorOutput.shared.write(
            "Write the second line into the configuration, under \"web\", and give the first to who may use the console."
        )
    }
}
