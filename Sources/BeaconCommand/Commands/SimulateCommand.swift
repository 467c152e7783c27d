import ArgumentParser
import BeaconCapture
import BeaconMonitoring
import BeaconSimulation
import BeaconTerminal

/// The command `beacon simulate`, which writes the adverts that a scenario's receivers hear.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Write the adverts that the receivers of a scenario hear.",
        discussion: """
            A scenario describes beacons, receivers, walking people and walls in simulated air. Built-in scenarios: \
            \(Scenario.names.joined(separator: ", ")). docs/scenarios.md explains how to write your own. The command \
            runs as fast as the machine can, and writes the same bytes each time. To play a scenario in real time, \
            pass it to another command as --source simulation:NAME.

              beacon simulate museum --output museum.btsnoop
              beacon simulate museum --output museum.ndjson --truth museum.csv
            """)

    @Argument(help: ArgumentHelp("The name of a scenario, or the path of a scenario file.", valueName: "scenario"))
    var scenario: String

    @Option(
        help: ArgumentHelp(
            "The file to write; its name determines the format, as for 'beacon record'.",
            discussion: "Default: a sighting log on standard output.",
            valueName: "file"))
    var output: String = "-"

    @Option(
        help: ArgumentHelp(
            "Write the true distances of each second into this file.", valueName: "file"))
    var truth: String?

    mutating func validate() throws {
        if let truth, truth == "-" || truth == output || OutputCheck.isOneFile(truth, output) {
            throw ValidationError("--truth needs a separate file from the adverts.")
        }
        for output in [output, truth].compactMap(\.self) {
            try OutputCheck.check(output, inputs: [SourceSpecification.simulation(scenario).path])
        }
    }

    func run() throws {
        Interruption.listen()
        if let truth { try writeTruth(to: truth) }
        let source = ChosenSource(.simulation(scenario), speed: SpeedArgument(argument: "max"))
        var input = try source.open(mode: .ranging, keepsAdverts: true) { _ in }
        let counts = try AdvertRecorder(path: output, source: source).record(&input)
        if output != "-" {
            ErrorOutput.shared.write(
                "Wrote \(counts.adverts) adverts, \(counts.iBeacons) of them iBeacons, to \(output).")
        }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }

    private func writeTruth(to path: String) throws {
        let scenario = try Scenario(json: SourceSpecification.scenario(scenario))
        var file = try FileOutput(path: path)
        try file.append { $0.append(contentsOf: "time,receiver,major,minor,distance\n".utf8) }
        for second in scenario.seconds where !Interruption.isRequested {
            try file.append { buffer in
                for row in scenario.distances(at: second) {
                    // A name with a comma or a quote is in quotes, as in CSV.
                    let name = row.receiver.contains { ",\"".contains($0) } ? "\"\(row.receiver)\"" : row.receiver
                    let distance = (row.distance * 1000).rounded() / 1000
                    let beacon = "\(row.identity.major),\(row.identity.minor)"
                    buffer.append(contentsOf: "\(row.time.seconds),\(name),\(beacon),\(distance)\n".utf8)
                }
            }
        }
        try file.finish()
    }
}
