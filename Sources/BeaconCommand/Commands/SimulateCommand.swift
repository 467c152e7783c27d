import ArgumentParser
import BeaconMonitoring
import BeaconSimulation

/// The command `beacon simulate`, which writes the adverts that a scenario's receivers hear.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Write the adverts that the receivers of a scenario hear.",
        discussion: """
            A scenario is a story in simulated air: beacons, receivers, people who walk, walls. These come with the \
            program: \(Scenario.names.joined(separator: ", ")); docs/scenarios.md says how to write one. It plays as \
            fast as the machine can, and gives the same bytes each time. To play one in real time, give it to another \
            command as --source simulation:NAME.

              beacon simulate museum --output museum.btsnoop
            """)

    @Argument(help: ArgumentHelp("The name of a scenario, or the path of a scenario file.", valueName: "scenario"))
    var scenario: String

    @Option(
        help: ArgumentHelp(
            "The file to write; its name chooses the format, as for 'beacon record'.",
            discussion: "Default: a sighting log on standard output.",
            valueName: "file"))
    var output: String = "-"

    func run() throws {
        Interruption.listen()
        var input = try AnyAdvertSource(.simulation(scenario))
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
