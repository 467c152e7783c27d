import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconPrograms
import BeaconRadio
import LinuxRadio

/// The command `beacon monitor`, which reports when regions are entered and exited.
struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Report when regions are entered and exited.",
        discussion: """
            A region is entered with the first advert of one of its beacons, and exited when none has been heard for \
            the exit timeout. Each change is a line, or a run of the program that --exec names.

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
        help: ArgumentHelp("The weakest advert that enters a region, in dBm, such as -70.", valueName: "dBm"))
    var minimumRSSI: Int?

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

    @Option(
        help: ArgumentHelp(
            "The program to run for each event, with the event as JSON on its standard input.",
            discussion:
                "It runs without a shell, one at a time, for 30 s at most. Spaces separate its arguments.",
            valueName: "command"))
    var exec: String?

    @Option(
        help: ArgumentHelp(
            "An environment variable that the program gets; may be given several times.",
            discussion: "It gets PATH, HOME, LANG and the like unasked, and nothing else.", valueName: "name"))
    var execVariable: [String] = []

    @Flag(help: "Print one JSON object a line.")
    var json = false

    mutating func validate() throws {
        guard !region.isEmpty else { throw ValidationError("Name at least one --region to monitor.") }
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

    // On the main thread: as soon as a thread of Dispatch's pool works, Dispatch checks its pool once a second, which
    // would double how often a process that waits for a beacon wakes.
    @MainActor
    func run() async throws {
        var configuration = MonitoringSession.Configuration()
        configuration.receiver = receiver
        configuration.regions = region.map { argument in
            MonitoringSession.Configuration.Region(
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
        let program = EventPrograms(try EventPrograms.words(of: exec), variables: execVariable)
        let failure: (any Error)?
        do {
            try watch(configuration) { program.enqueue($0) }
            failure = nil
        } catch {
            failure = error
        }
        // Events so far still reach the program, unless the user wants to stop.
        await program.finish()
        if let failure { throw failure }
    }

    private func watch(_ configuration: MonitoringSession.Configuration, handle: ([UInt8]) -> Void) throws {
        var output = try FileOutput(path: "-")
        let runner = SessionRunner(source: source, receiver: receiver, hasOwnDisplay: false)
        try runner.run(configuration, mode: .monitoring(Set(region.map(\.constraint.uuid)))) { event in
            guard case .region(let change) = event else { return }
            var line: [UInt8] = []
            EventJSON.append(change, to: &line)
            handle(line)
            if !json {
                line.removeAll()
                EventText.append(change, to: &line)
            }
            try output.append { $0.append(contentsOf: line) }
            if source.isGradual || Terminal.isInteractive { try output.flush() }
        } atEnd: {
            try output.finish()
        }
    }
}

/// A queue of events for the user's program, which runs for one after another, in order.
struct EventPrograms: Sendable {
    private let events: AsyncStream<[UInt8]>.Continuation
    private let worker: Task<Void, Never>

    /// Begins to wait for events.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - variables: the names of environment variables that it gets besides the usual ones.
    init(_ words: [String], variables: [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        events = continuation
        var program = EventProgram(words)
        program.environment = ProgramEnvironment.inherited(and: variables)
        worker = Task { [program] in
            for await event in stream {
                if Interruption.isRequested { return }
                await Self.run(program, event)
            }
        }
    }

    /// Adds an event to those that the program is to be run for.
    func enqueue(_ event: [UInt8]) { events.yield(event) }

    /// Waits until the program has been run for all events.
    func finish() async {
        events.finish()
        await worker.value
    }

    /// Splits a command into its words.
    ///
    /// - Throws: `ValidationError` if there is no word or a quote has no end.
    static func words(of command: String) throws -> [String] {
        do throws(CommandWords.Failure) {
            return try CommandWords.split(command)
        } catch {
            throw switch error {
            case .empty: ValidationError("--exec needs a program to run.")
            case .openQuote: ValidationError("--exec \(command): a quote has no end.")
            }
        }
    }

    private static func run(_ program: EventProgram, _ event: [UInt8]) async {
        let name = program.words[0]
        do {
            let outcome = try await program.run(input: event, output: .standardError)
            if !outcome.isSuccess { StandardError.write("Warning: \(name) \(outcome).") }
        } catch {
            StandardError.write("Warning: \(name) was not run: \(error).")
        }
    }
}
