import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconTerminal

/// The command `beacon range`, which reports the proximity of beacons once a second.
struct RangeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "range",
        abstract: "Report the proximity of beacons once a second.",
        discussion: """
            Beacons are listed as immediate, near, far or unknown, with their estimated distance (accuracy) and RSSI. \
            On a terminal, a table shows the newest second; any other output gets one second after another. With \
            --json, each second has a line for each receiver and region.

              beacon range --source simulation:museum
              beacon range --region hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1 --json
              beacon range --exec ./lights --on near --on 'immediate for 10s'
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "The region whose beacons are ranged; may be given several times.",
            discussion: "Default: the tags of --tags, else every beacon.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Use only the adverts that this receiver hears.", valueName: "name"))
    var receiver: String?

    @Option(
        help: ArgumentHelp(
            "How fast signals fall beyond one meter: 2 in open air.",
            discussion: "Default: the exponent of the calibration file, or 1.75.", valueName: "number"))
    var exponent: Double?

    @OptionGroup var program: ProgramOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    mutating func validate() throws {
        region += source.tags
        if region.isEmpty, let event = program.on.first(where: { !$0.needsRanging }) {
            throw ValidationError("--on \(event) needs a --region.")
        }
        if let exponent, !CalibrationSet.exponents.contains(exponent) {
            throw ValidationError("--exponent is \(exponent); write a number from 1 to 6.")
        }
    }

    // Runs on the main thread, like `monitor`.
    @MainActor
    func run() async throws {
        var configuration = MonitoringSession.Configuration()
        configuration.calibrations.exponent = exponent
        configuration.rangings = region.isEmpty ? [nil] : region.map(\.constraint)
        configuration.receiver = receiver
        if program.on.contains(where: { !$0.needsRanging }) {
            configuration.regions = region.map { .init(name: $0.name, region: MonitoredRegion($0.constraint)) }
        }
        let session = configuration
        Interruption.listen()
        try await program.withPrograms(events: [.proximity(.near, for: .zero)]) { try range(session, $0) }
    }

    private func range(_ configuration: MonitoringSession.Configuration, _ programs: ProgramStarter?) throws {
        var output = try FileOutput(path: "-")
        let source = source.choose()
        let isLive = Terminal.output.isInteractive && !json
        var table = RangeTable(title: source.title, names: region, isLive: isLive)
        try SessionRunner(source: source, receiver: receiver, reportsUncalibrated: json, hasOwnDisplay: isLive).run(
            configuration,
            programs: programs,
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
