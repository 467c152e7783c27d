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
            A place is a room, or any other area with one or more receivers. A beacon is in the place that hears it \
            strongest. It changes to another place that leads by \
            \(Int(PlaceRules().margin)) dB for \(TimeSpan(PlaceRules().holdTime)); a larger \
            lead takes less time. It is in no place when no receiver has heard it for \
            \(TimeSpan(PlaceRules().exitTimeout)). While a receiver is deaf, a beacon's place is unknown if the levels \
            at the other receivers do not decide it.

              beacon places --source recording.ndjson --place hall=R1,R2 --place kitchen=R3

            Rooms without a receiver can be taught: 'beacon help teach'.
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
            "A beacon is in no place after this time without an advert.",
            discussion: "Default: \(TimeSpan(PlaceRules().exitTimeout)).", valueName: "seconds"),
        transform: TimeSpan.reader(.seconds(1)...(.seconds(86_400))))
    var exitTimeout = TimeSpan(PlaceRules().exitTimeout)

    @OptionGroup var source: SourceOptions

    @Flag(
        name: .customLong("each-second"),
        help: "Print the place of every beacon once a second, not only changes.")
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
                "Pass the receivers of each place, such as --place hall=R1,R2, or teach places with 'beacon teach'.")
        }
    }

    func run() throws {
        var configuration = MonitoringSession.Configuration()
        let plan = try plan()
        if plan.taught == nil, FileManager.default.fileExists(atPath: TeachCommand.file.path) {
            ErrorOutput.shared.write(
                "Note: --place replaces the taught places; to use both, add --taught \(TeachCommand.file.path).")
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
                    // The report of each second includes the changes.
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
