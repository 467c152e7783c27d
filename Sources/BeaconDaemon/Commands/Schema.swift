import ArgumentParser
import BeaconConfiguration
import BeaconGateway
import BeaconTerminal
import Foundation

/// `beacond schema`: prints the schema of a configuration.
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of the configuration, for editors.",
        discussion: """
            An editor with the YAML language server then knows the meaning of each key, and marks mistakes:

              beacond schema > beacond.schema.json

            and as the first line of beacond.yaml:

              # yaml-language-server: $schema=beacond.schema.json

            A schema cannot check everything, for instance whether a named region exists. "beacond check" does.
            """)

    @Flag(help: "Print the reference of all keys, in Markdown.")
    var markdown = false

    func run() throws {
        StandardOutput.write(markdown ? GatewayConfiguration.reference : try GatewayConfiguration.schemaText())
    }
}
