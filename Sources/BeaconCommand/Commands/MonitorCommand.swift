import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconTerminal

/// The command `beacon monitor`, which reports when regions are entered and exited.
struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Report when regions are entered and exited.",
        discussion: """
            A region is entered with the first advert of one of its beacons, and exited when no advert arrives for the \
            exit timeout. A region without adverts at the start is outside after the same time. Each change is a line. \
            --exec runs a program for each change, or for the events that --on names: a beacon comes near, stays, or \
            is gone.

              beacon monitor --source simulation:department-store --speed max \\
                --region shop=02f07e83-abd6-4243-90a8-3617c9c74e70
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "The region to monitor; may be given several times.",
            discussion: "Required, unless --tags names phones and watches, each of which is a region.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Use only the adverts that this receiver hears.", valueName: "name"))
    var receiver: String?

    @OptionGroup var signals: SignalOptions

    @OptionGroup var exits: ExitOptions

    @OptionGroup var program: ProgramOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    mutating func validate() throws {
        region += source.tags
        guard !region.isEmpty else { throw ValidationError("Name at least one --region to monitor.") }
    }

    // Runs on the main thread: once a thread of its pool has worked, Dispatch checks the pool every second. A process
    // that waits for a beacon would wake up twice as often.
    @MainActor
    func run() async throws {
        var configuration = MonitoringSession.Configuration()
        configuration.receiver = receiver
        configuration.regions = region.map { argument in
            MonitoringSession.Configuration.Region(
                name: argument.name, region: exits.region(argument, signals))
        }
        Interruption.listen()
        if program.needsRanging { configuration.rangings = region.map(\.constraint) }
        let session = configuration
        try await program.withPrograms(events: [.enter, .exit]) { programs in
            try watch(session, programs)
        }
    }

    private func watch(_ configuration: MonitoringSession.Configuration, _ programs: ProgramStarter?) throws {
        var output = try FileOutput(path: "-")
        let source = source.choose()
        let isPrompt = source.isGradual || Terminal.output.isInteractive
        let runner = SessionRunner(source: source, receiver: receiver, hasOwnDisplay: false)
        let mode: ScanMode =
            program.needsRanging ? .ranging : .monitoring(Set(region.map(\.constraint.uuid)))
        try runner.run(configuration, mode: mode, programs: programs) { event in
            guard case .region(let change) = event else { return }
            try output.append { buffer in
                if json { EventJSON.append(change, to: &buffer) } else { EventText.append(change, to: &buffer) }
            }
            if isPrompt { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}
