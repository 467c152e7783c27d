import ArgumentParser
import BeaconRadio
import BeaconService

/// `beacon range`: how near beacons are, once a second.
struct Range: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell once a second how near beacons are.",
        discussion: """
            On a terminal a table shows the newest second. Elsewhere each second, receiver and region gives a line with \
            --json, and a few without.

              beacon range --source simulation:museum
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Range the beacons of a region; may be given several times.", discussion: "Default: every beacon.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Count only what this receiver hears.", valueName: "name"))
    var receiver: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        var configuration = SessionConfiguration()
        configuration.rangings = region.isEmpty ? [nil] : region.map(\.constraint)
        configuration.receiver = receiver
        Interruption.listen()
        var output = try FileOutput(path: "-")
        let isLive = Terminal.isInteractive && !json
        var table = RangeTable(title: source.title, names: region, isLive: isLive)
        try SessionRunner(source: source, receiver: receiver, hasOwnDisplay: isLive).run(
            configuration,
            settled: {
                guard isLive else { return }
                try output.append { table.appendRest(to: &$0) }
                try output.flush()
            }
        ) { event in
            guard case .ranged(let report) = event else { return }
            try output.append { buffer in
                if json {
                    EventJSON.append(report, to: &buffer)
                } else {
                    table.append(report, to: &buffer)
                }
            }
            if source.isGradual, !isLive { try output.flush() }
        } atEnd: {
            try output.append { table.appendRest(to: &$0) }
            try output.finish()
        }
    }
}
