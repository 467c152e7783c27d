import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon places`, which reports the place that each beacon is in.
struct PlacesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "places",
        abstract: "Report the place that each beacon is in, by several receivers.",
        discussion: """
            A place is a room, or whatever else has a receiver or several of its own. A beacon is in the place where it \
            is heard strongest; it changes to another one that leads by \(Figure.text(of: PlaceRules().margin, decimals: 0)) dB for \
            \(TimeSpan(PlaceRules().holdTime)), or by more for less, and is in none when no receiver has heard it for \
            \(TimeSpan(PlaceRules().exitTimeout)). While a receiver is deaf, what the others cannot tell by level is unknown.

              beacon places --source recording.ndjson --place hall=R1,R2 --place kitchen=R3

            Where places were taught, which finds rooms without a receiver too, that decides instead: 'beacon help \
            teach'.
            """)

    @OptionGroup var places: PlaceOptions

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "The region whose beacons are located; may be given several times.", discussion: "Default: every beacon.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "The time unheard after which a beacon is in no place.",
            discussion: "Default: \(TimeSpan(PlaceRules().exitTimeout)).", valueName: "seconds"),
        transform: TimeSpan.reader(.seconds(1)...(.seconds(86_400))))
    var exitTimeout = TimeSpan(PlaceRules().exitTimeout)

    @OptionGroup var source: SourceOptions

    @Flag(
        name: .customLong("each-second"),
        help: "Print where every beacon is once a second, and not only changes.")
    var eachSecond = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    private func plan() throws -> PlacePlan {
        var plan = try places.plan(orElse: TeachCommand.file)
        plan.rules.exitTimeout = exitTimeout.duration
        return plan
    }

    mutating func validate() throws {
        if !places.areGiven, !FileManager.default.fileExists(atPath: TeachCommand.file.path) {
            throw ValidationError(
                "Say where the receivers are, as in --place hall=R1,R2, or teach places with 'beacon teach'.")
        }
    }

    func run() throws {
        var configuration = MonitoringSession.Configuration()
        let plan = try plan()
        if plan.taught == nil, FileManager.default.fileExists(atPath: TeachCommand.file.path) {
            ErrorOutput.shared.write(
                "Note: what was taught is not used beside --place; give it with --taught \(TeachCommand.file.path).")
        }
        configuration.places = plan
        configuration.located = region.map(\.constraint)
        Interruption.listen()
        var output = try FileOutput(path: "-")
        let isLive = Terminal.output.isInteractive && !json && !eachSecond
        configuration.places?.reportsEachSecond = isLive || eachSecond
        var source = source.choose()
        source.specification = source.specification.reserving(plan.receiverNames)
        let isPrompt = source.isGradual || Terminal.output.isInteractive
        var table = PlaceTable(title: source.title)
        let runner = SessionRunner(
            source: source, expected: plan.receiverNames, hasOwnDisplay: isLive)
        try runner.run(configuration) { event in
            try output.append { buffer in
                switch event {
                case .located(let report) where isLive: table.append(report, to: &buffer)
                case .located, .placed:
                    // Of both, each second has what changes have.
                    if case .placed = event, isLive || eachSecond { return }
                    if json { EventJSON.append(event, to: &buffer) } else { PlaceText.append(event, to: &buffer) }
                default: break
                }
            }
            if isPrompt { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}
