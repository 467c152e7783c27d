import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Foundation
import LinuxRadio

/// The command `beacon places`, which reports the place that each beacon is in.
struct PlacesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "places",
        abstract: "Report the place that each beacon is in, by several receivers.",
        discussion: """
            A place is a room, or whatever else has a receiver or several of its own. A beacon is in the place where it \
            is heard strongest; it changes to another one that leads by 6 dB for 3 s, and is in none when no receiver \
            has heard it for 30 s. While a receiver is deaf, what the others cannot tell by level is unknown.

              beacon places --source recording.ndjson --place hall=R1,R2 --place kitchen=R3

            Where places were taught, which finds rooms without a receiver too, that decides instead: 'beacon help \
            teach'.
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A place, and the receivers in it; may be given several times.", valueName: "name=receiver,..."),
        transform: PlaceArgument.init)
    var place: [PlaceArgument] = []

    @Option(
        help: ArgumentHelp(
            "The file of places that 'beacon teach' taught.",
            discussion: "Default: its own file, where no --place is given.", valueName: "file"))
    var taught: String?

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "The region whose beacons are located; may be given several times.", discussion: "Default: every beacon.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The decibels by which another place has to lead.", valueName: "dB"))
    var margin: Double = PlaceRules().margin

    @Option(
        name: .customLong("hold-time"), parsing: .unconditional,
        help: ArgumentHelp("The time for which it has to, in seconds.", valueName: "seconds"))
    var holdTime: Int = 3

    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "The time unheard after which a beacon is in no place, in seconds.", valueName: "seconds"))
    var exitTimeout: Int = 30

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Take a receiver for deaf, to see what the others decide without it; may be given several times.",
            valueName: "receiver"))
    var deaf: [String] = []

    @OptionGroup var source: SourceOptions

    @Flag(
        name: .customLong("each-second"),
        help: "Print where every beacon is once a second, and not only changes.")
    var eachSecond = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    private func plan() throws -> PlacePlan {
        var plan = PlacePlan(place.map { .init(name: $0.name, receivers: $0.receivers) })
        if let taught {
            plan.taught = try TaughtMap(file: URL(fileURLWithPath: taught))
        } else if place.isEmpty {
            plan.taught = try TaughtMap(file: TeachCommand.file)
        }
        plan.rules.margin = margin
        plan.rules.holdTime = .seconds(holdTime)
        plan.rules.exitTimeout = .seconds(exitTimeout)
        plan.deafReceivers = Set(deaf)
        return plan
    }

    mutating func validate() throws {
        if let mistake = PlacePlan(place.map { .init(name: $0.name, receivers: $0.receivers) }).mistake(),
            !place.isEmpty
        {
            throw ValidationError("--place: \(mistake).")
        }
        if place.isEmpty, taught == nil, !FileManager.default.fileExists(atPath: TeachCommand.file.path) {
            throw ValidationError(
                "Say where the receivers are, as in --place hall=R1,R2, or teach places with 'beacon teach'.")
        }
        guard (0...60).contains(margin) else {
            throw ValidationError("--margin is \(margin); it has to be from 0 to 60 dB.")
        }
        guard (1...3600).contains(holdTime) else {
            throw ValidationError("--hold-time is \(holdTime); it has to be from 1 to 3600 seconds.")
        }
        guard (1...86_400).contains(exitTimeout) else {
            throw ValidationError("--exit-timeout is \(exitTimeout); it has to be from 1 to 86400 seconds.")
        }
    }

    func run() throws {
        var configuration = MonitoringSession.Configuration()
        let plan = try plan()
        if let mistake = plan.mistake() { throw ValidationError("\(mistake).") }
        if let other = deaf.first(where: { !plan.receiverNames.contains($0) }) {
            throw ValidationError("--deaf names \(other), which is in no place.")
        }
        if plan.taught == nil, FileManager.default.fileExists(atPath: TeachCommand.file.path) {
            StandardError.write(
                "Note: what was taught is not used beside --place; give it with --taught \(TeachCommand.file.path).")
        }
        configuration.places = plan
        configuration.located = region.map(\.constraint)
        Interruption.listen()
        var output = try FileOutput(path: "-")
        let isLive = Terminal.isInteractive && !json && !eachSecond
        configuration.places?.reportsEachSecond = isLive || eachSecond
        var table = PlaceTable(title: source.title)
        let runner = SessionRunner(source: source, expected: plan.receiverNames, hasOwnDisplay: isLive)
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
            if source.isGradual || Terminal.isInteractive { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}

/// A place on the command line: `NAME=RECEIVER,...`.
struct PlaceArgument {
    /// The user's name for it.
    var name: String

    /// The names of its receivers.
    var receivers: [String]

    /// Reads a place.
    ///
    /// - Throws: `ValidationError`, with the form of a place.
    init(_ argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let receivers = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        guard let name = parts.first, !name.isEmpty, !receivers.isEmpty, !receivers.contains(where: \.isEmpty) else {
            throw ValidationError("a place is NAME=RECEIVER,..., for instance hall=R1,R2")
        }
        self.name = String(name)
        self.receivers = receivers.map(String.init)
    }
}
