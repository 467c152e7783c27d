import ArgumentParser
import BeaconCapture
import BeaconMonitoring
import BeaconSimulation
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon plan`, which predicts how right places will be on a floor plan.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Predict how well receivers on a floor plan tell rooms apart.",
        discussion: """
            The scenario has walls, receivers with their positions, and rooms as polygons. In the simulated air, a tag \
            is carried through all rooms, \(RoomReport.usualSeeds) times with other walks and other fading. The table \
            shows what 'beacon places' and beacond would tell in each room: the share of the time, and how much it \
            differs between the walks. If a person of the scenario carries its first beacon, that person's walk is \
            taken. docs/places.md explains it, docs/scenarios.md describes the file.

              beacon plan flat.json
              beacon plan flat.json --with-receiver 1.2,3.4

            A prediction cannot choose between two good corners of a room: it says "no difference" then.
            """)

    @Argument(help: ArgumentHelp("The path of a scenario file with rooms.", valueName: "scenario"))
    var scenario: String

    @Option(
        help: ArgumentHelp("The number of simulated walks through all rooms.", valueName: "number"))
    var seeds = RoomReport.usualSeeds

    @Option(
        name: .customLong("with-receiver"), parsing: .unconditional,
        help: ArgumentHelp(
            "A position to try one receiver more at, and its height; all in meters.",
            discussion: "Default height: \(Int(RoomSurvey.usualHeight)).", valueName: "x,y[,z]"),
        transform: Self.position)
    var withReceiver: Point?

    @Option(
        name: .customLong("tag-height"),
        help: ArgumentHelp("The height of tags above the plan, in meters.", valueName: "meters"))
    var tagHeight = RoomSurvey.usualHeight

    @Flag(help: "Print one JSON object.")
    var json = false

    private static func position(_ argument: String) throws -> Point {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        let numbers = parts.compactMap { $0 }.filter { abs($0) <= 10_000 }
        guard 2...3 ~= numbers.count, numbers.count == parts.count else {
            throw ValidationError("\"\(argument)\" is not a position; write it in meters, as in 1.2,3.4 or 1.2,3.4,2")
        }
        return Point(x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : RoomSurvey.usualHeight)
    }

    mutating func validate() throws {
        guard RoomReport.seeds.contains(seeds) else {
            throw ValidationError(
                "--seeds is \(seeds); it has to be from \(RoomReport.seeds.lowerBound) to \(RoomReport.seeds.upperBound)."
            )
        }
        guard (0...100).contains(tagHeight) else {
            throw ValidationError("--tag-height is \(tagHeight); it has to be from 0 to 100 meters.")
        }
    }

    func run() throws {
        Interruption.listen()
        let scenario = try Scenario(json: SourceSpecification.scenario(scenario))
        let survey = try RoomSurvey(scenario, tagHeight: tagHeight)
        let tried = withReceiver.map { RoomSurvey.Receiver(name: "one more", position: $0) }
        guard
            let report = try RoomReport.make(
                survey, seeds: seeds, trying: tried, shouldStop: { Interruption.isRequested })
        else { throw ExitCode(Interruption.exitStatus) }
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                buffer.append(contentsOf: (try? encoder.encode(report)) ?? Data())
                buffer.append(UInt8(ascii: "\n"))
            } else {
                let lines = ForecastText().lines(
                    of: report, title: scenario.name, hasOwnWalk: survey.hasOwnWalk)
                buffer.append(contentsOf: (lines.joined(separator: "\n") + "\n").utf8)
            }
        }
        try output.finish()
    }
}
