import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import LinuxRadio

/// The command `beacon monitor`, which reports when regions are entered and exited.
struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Report when regions are entered and exited.",
        discussion: """
            A region is entered with the first advert of one of its beacons, and exited when none has been heard for \
            the exit timeout. Each change is a line; --exec runs a program for it, or for what --on names: a beacon that \
            comes near, stays, or is gone.

              beacon monitor --source simulation:department-store --speed max \\
                --region shop=02f07e83-abd6-4243-90a8-3617c9c74e70
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp("The region to monitor; may be given several times.", valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument]

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Use only the adverts that this receiver hears.", valueName: "name"))
    var receiver: String?

    @Option(
        name: .customLong("minimum-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "The weakest advert that enters a region, in dBm, such as -70, or auto.",
            discussion:
                "With auto, a region is entered within 10 dB of the strongest signal that beacons of its UUID have "
                + "had at the receiver, and kept within 20 dB. It is good once a beacon has been close to each receiver.",
            valueName: "dBm|auto"))
    var minimumRSSI: MinimumSignal?

    @Option(
        name: .customLong("exit-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "The weakest advert that keeps a region from being exited, in dBm.",
            discussion: "Default: the value of --minimum-rssi.",
            valueName: "dBm"))
    var exitRSSI: Int?

    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "The time without an advert after which a region is exited, in seconds.", valueName: "seconds"))
    var exitTimeout: Double = 30

    @Flag(
        help: ArgumentHelp(
            "Lengthen the exit timeout for beacons that are heard rarely.",
            discussion: "It is then at least three times the longest regular gap between two adverts."))
    var adaptiveExit = false

    @OptionGroup var program: ProgramOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    mutating func validate() throws {
        guard !region.isEmpty else { throw ValidationError("Name at least one --region to monitor.") }
        for (name, value) in [("--minimum-rssi", minimumRSSI?.level), ("--exit-rssi", exitRSSI)] {
            if let value, !(-127...20).contains(value) {
                throw ValidationError("\(name) is \(value); signal strengths are in -127...20 dBm.")
            }
        }
        if minimumRSSI == .learned, exitRSSI != nil {
            throw ValidationError("--exit-rssi does not go with --minimum-rssi auto, which learns both.")
        }
        if let minimumRSSI = minimumRSSI?.level, let exitRSSI, exitRSSI > minimumRSSI {
            throw ValidationError(
                "--exit-rssi \(exitRSSI) is above --minimum-rssi \(minimumRSSI): a region would be left by the very "
                    + "adverts that enter it. Give one that is no higher.")
        }
        guard exitTimeout > 0, exitTimeout <= 86_400 else {
            throw ValidationError("--exit-timeout is \(exitTimeout); it has to be above 0 and up to 86400 seconds.")
        }
    }

    // On the main thread: as soon as a thread of Dispatch's pool works, Dispatch checks its pool once a second, which
    // would double how often a process that waits for a beacon wakes.
    @MainActor
    func run() async throws {
        var configuration = MonitoringSession.Configuration()
        configuration.receiver = receiver
        configuration.regions = region.map { argument in
            var region = MonitoredRegion(
                argument.constraint,
                minimumRSSI: minimumRSSI?.level.map(Int8.init),
                exitRSSI: (exitRSSI ?? minimumRSSI?.level).map(Int8.init),
                exitTimeout: .nanoseconds(Int64(exitTimeout * 1e9)),
                isExitAdaptive: adaptiveExit)
            region.isSignalLearned = minimumRSSI == .learned
            return MonitoringSession.Configuration.Region(name: argument.name, region: region)
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
        let runner = SessionRunner(source: source, receiver: receiver, hasOwnDisplay: false)
        let mode: ScanMode =
            program.needsRanging ? .ranging : .monitoring(Set(region.map(\.constraint.uuid)))
        try runner.run(configuration, mode: mode, programs: programs) { event in
            guard case .region(let change) = event else { return }
            try output.append { buffer in
                if json { EventJSON.append(change, to: &buffer) } else { EventText.append(change, to: &buffer) }
            }
            if source.isGradual || Terminal.isInteractive { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}

/// The weakest signal that enters a region: a level, or one that is learnt.
enum MinimumSignal: ExpressibleByArgument, Hashable {
    case level(Int)
    case learned

    init?(argument: String) {
        if argument == "auto" {
            self = .learned
        } else if let level = Int(argument) {
            self = .level(level)
        } else {
            return nil
        }
    }

    /// The level in dBm; nil where it is learnt.
    var level: Int? { if case .level(let level) = self { level } else { nil } }
}
