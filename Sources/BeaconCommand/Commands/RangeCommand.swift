import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import LinuxRadio

/// The command `beacon range`, which reports the proximity of beacons once a second.
struct RangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "range",
        abstract: "Report the proximity of beacons once a second.",
        discussion: """
            Beacons are listed as immediate, near, far or unknown, with their estimated distance (accuracy) and RSSI. \
            On a terminal a table shows the newest second; elsewhere the seconds follow one another. With --json each \
            second gives a line for each receiver and region.

              beacon range --source simulation:museum
              beacon range --region hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1 --json
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "The region whose beacons are ranged; may be given several times.", discussion: "Default: every beacon.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Use only the adverts that this receiver hears.", valueName: "name"))
    var receiver: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        var configuration = MonitoringSession.Configuration()
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
