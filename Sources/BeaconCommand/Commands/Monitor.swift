import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService

/// `beacon monitor`: when regions are entered and left.
struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell when beacons of a region come and go.",
        discussion: """
            A region is entered with the first advert of one of its beacons, and left when none was heard for the \
            exit time-out.

              beacon monitor --source simulation:department-store \\
                --region shop=02f07e83-abd6-4243-90a8-3617c9c74e70 --exec ./notify
            """)

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp("Watch for a region; may be given several times.", valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument]

    @OptionGroup var source: SourceOptions

    @Option(help: ArgumentHelp("Count only what this receiver hears.", valueName: "name"))
    var receiver: String?

    @Option(
        name: .customLong("minimum-rssi"), parsing: .unconditional,
        help: ArgumentHelp("Enter only with an advert at least this strong, in dBm.", valueName: "dBm"))
    var minimumRSSI: Int?

    @Option(
        name: .customLong("exit-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "Stay only with adverts at least this strong, in dBm.", discussion: "Default: the minimum.",
            valueName: "dBm"))
    var exitRSSI: Int?

    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp("Leave after so long without an advert.", valueName: "seconds"))
    var exitTimeout: Double = 30

    @Flag(
        help: ArgumentHelp(
            "Give beacons that are heard rarely more time.",
            discussion: "Three times the longest gap of late, if that is more than the time-out."))
    var adaptiveExit = false

    @Option(
        help: ArgumentHelp(
            "Run a program for each event, with the event as JSON on its standard input.",
            discussion:
                "Without a shell, one at a time, 30 s at most. Words are separated by spaces; quotes keep them.",
            valueName: "command"))
    var exec: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    mutating func validate() throws {
        guard !region.isEmpty else { throw ValidationError("Name at least one --region to watch for.") }
        for (name, value) in [("--minimum-rssi", minimumRSSI), ("--exit-rssi", exitRSSI)] {
            if let value, !(-127...20).contains(value) {
                throw ValidationError("\(name) is \(value); signal strengths are in -127...20 dBm.")
            }
        }
        if let minimumRSSI, let exitRSSI, exitRSSI > minimumRSSI {
            throw ValidationError(
                "--exit-rssi \(exitRSSI) is above --minimum-rssi \(minimumRSSI): a region would be left by the very "
                    + "adverts that enter it. Give one that is no higher.")
        }
        guard exitTimeout > 0, exitTimeout <= 86_400 else {
            throw ValidationError("--exit-timeout is \(exitTimeout); it has to be above 0 and up to 86400 seconds.")
        }
        if let exec { _ = try EventPrograms.words(of: exec) }
    }

    // On the main thread: as soon as one thread of Dispatch's pool works, Dispatch looks after its pool once a second, and
    // who waits for a beacon would be woken twice as often.
    @MainActor
    func run() async throws {
        var configuration = SessionConfiguration()
        configuration.receiver = receiver
        configuration.regions = region.map { argument in
            SessionConfiguration.Region(
                name: argument.name,
                region: MonitoredRegion(
                    argument.constraint,
                    minimumRSSI: minimumRSSI.map(Int8.init),
                    exitRSSI: (exitRSSI ?? minimumRSSI).map(Int8.init),
                    exitTimeout: .nanoseconds(Int64(exitTimeout * 1e9)),
                    isExitAdaptive: adaptiveExit))
        }
        Interruption.listen()
        guard let exec else { return try watch(configuration) { _ in } }
        let program = EventPrograms(try EventPrograms.words(of: exec))
        let failure: (any Error)?
        do {
            try watch(configuration) { program.enqueue($0) }
            failure = nil
        } catch {
            failure = error
        }
        // What has happened is told to the end, unless the user wants to stop.
        await program.finish()
        if let failure { throw failure }
    }

    private func watch(_ configuration: SessionConfiguration, tell: ([UInt8]) -> Void) throws {
        var output = try FileOutput(path: "-")
        let runner = SessionRunner(source: source, receiver: receiver, hasOwnDisplay: false)
        try runner.run(configuration, mode: .watching(Set(region.map(\.constraint.uuid)))) { event in
            guard case .region(let kind, let change) = event else { return }
            var line: [UInt8] = []
            EventJSON.append(kind, change, to: &line)
            tell(line)
            if !json {
                line.removeAll()
                EventText.append(kind, change, to: &line)
            }
            try output.append { $0.append(contentsOf: line) }
            if source.isGradual || Terminal.isInteractive { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}
