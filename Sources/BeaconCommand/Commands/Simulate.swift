import ArgumentParser
import BeaconRadio
import BeaconService

/// `beacon simulate`: writes what the receivers of a scenario hear.
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write what the receivers of a scenario hear, as fast as the machine can.",
        discussion: """
            Scenarios that come with the program: \(Scenario.names.joined(separator: ", ")). The same scenario gives the \
            same bytes each time. See docs/scenarios.md for how to write one.
            """)

    @Argument(help: ArgumentHelp("The name of a scenario, or a scenario file.", valueName: "scenario"))
    var scenario: String

    @Option(
        help: ArgumentHelp(
            "The file to be written.",
            discussion: "Default: a sighting log on standard output. For the formats see 'beacon help record'.",
            valueName: "file"))
    var output: String = "-"

    func run() throws {
        Interruption.listen()
        var input = try OpenSource(.simulation(scenario))
        var options = SourceOptions()
        options.source = "simulation:\(scenario)"
        options.speed = SpeedArgument(argument: "max")
        let counts = try AdvertRecorder(path: output, source: options).record(&input)
        if output != "-" {
            StandardError.write("Wrote \(counts.adverts) adverts, \(counts.iBeacons) of them iBeacons, to \(output).")
        }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }
}
