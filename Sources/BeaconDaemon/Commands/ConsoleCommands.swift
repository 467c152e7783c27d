import ArgumentParser
import BeaconConsole
import BeaconGateway
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond open`: prints the address of the console.
struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the address of the console, to open in a browser.",
        discussion: """
            The console shows who is where, since when and why, and how beacond reacts. The key "web" of the \
            configuration turns it on: "web: true" for browsers on this machine.

            If the console asks for a token, the address signs in one browser, once, within ten minutes.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "The outbox of the running beacond.",
            discussion: "Default: the outbox of the configuration; for /etc/beacond.yaml, the service's outbox.",
            valueName: "file"))
    var outbox: String?

    func run() throws {
        umask(0o077)
        let settings = try file.read()
        guard let web = settings.web else {
            throw ValidationError(
                "\(file.path) has no console; add \"web: true\" to it. While \"beacond setup\" runs, its console is at "
                    + "the address that it printed.")
        }
        guard web.tokenHash != nil else { return StandardOutput.write(web.address) }
        do {
            StandardOutput.write(web.address + "#code=" + (try ConsoleLink(settings, outbox: outbox).code))
        } catch {
            StandardOutput.write(web.address)
            ErrorOutput.shared.write(
                "The console asks each browser once for the token from \"beacond token\". Cannot make a link that "
                    + "signs in: \(error). Run this as the user who runs beacond.")
        }
    }
}

/// `beacond ready`: checks whether a running beacond hears.
struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether the running beacond can hear beacons.",
        discussion: """
            Status 0 if one of its receivers hears, else 1 with the reason. Use it for health checks of containers and \
            orchestrators, and for scripts that wait. It asks the console, so the configuration needs "web: true".
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let settings = try file.read()
        guard let web = settings.web else {
            throw ValidationError("\(file.path) has no console to ask; add \"web: true\" to it.")
        }
        try await ReadinessCheck(web).run()
    }
}

/// `beacond token`: makes a token for the console.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for the console, and the line of the configuration that accepts it.",
        discussion: """
            If other machines can reach the console, it asks for a token. The configuration has only the hash of the \
            token, which cannot be turned back into the token: keep the token.
            """)

    func run() {
        let token = AccessToken()
        StandardOutput.write("token:      \(token.text)")
        StandardOutput.write("token-hash: \(token.hash)")
        ErrorOutput.shared.write(
            "Write \"web: { token-hash: … }\" with this hash into the configuration, in the place of \"web: true\", or add "
                + "the second line under \"web\". Give the token to the users of the console."
        )
    }
}
