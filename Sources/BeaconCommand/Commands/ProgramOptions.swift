import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconPrograms
import BeaconTerminal

/// The options for a program that runs for events.
struct ProgramOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The program to run for each event, with the event as JSON on its standard input.",
            discussion:
                "It runs without a shell, one at a time, for 30 s at most. Spaces separate its arguments.",
            valueName: "command"))
    var exec: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An event for which the program runs; may be given several times.",
            discussion: """
                enter and exit: of a region; immediate, near and far: a beacon comes at least as near, once until it \
                leaves; 'near for 30s': a beacon stays that long; gone: a beacon is no longer heard. Default: all \
                lines of 'monitor', and near for 'range'.
                """, valueName: "event"),
        transform: { text in
            do throws(RuleEvent.Failure) {
                return try RuleEvent(text)
            } catch {
                throw ValidationError("\(error)")
            }
        })
    var on: [RuleEvent] = []

    @Option(
        help: ArgumentHelp(
            "An environment variable to pass to the program; may be given several times.",
            discussion: "It always gets PATH, HOME, LANG and the like, and no others.", valueName: "name"))
    var execVariable: [String] = []

    func validate() throws {
        if on.contains(.place) { throw ValidationError("--on place works only in the rules of beacond.") }
        if on.contains(.suspicious) { throw ValidationError("--on suspicious works only in the rules of beacond.") }
        if let exec { _ = try EventPrograms.words(of: exec) }
        if exec == nil, !on.isEmpty { throw ValidationError("--on needs a program to run; name it with --exec.") }
    }

    /// True if the program needs ranging.
    var needsRanging: Bool { on.contains(where: \.needsRanging) }

    /// Calls a function with the starter of the program, then waits until the program has run for all events.
    ///
    /// - Parameter events: the events to use if the user names none. The program then also runs when a region's state
    ///   becomes known.
    @MainActor
    func withPrograms(events: [RuleEvent], _ body: (ProgramStarter?) throws -> Void) async throws {
        guard let exec else { return try body(nil) }
        let programs = EventPrograms(try EventPrograms.words(of: exec), variables: execVariable)
        let failure: (any Error)?
        do {
            try body(ProgramStarter(programs, events: on.isEmpty ? events : on, hasStates: on.isEmpty))
            failure = nil
        } catch {
            failure = error
        }
        // Queued events still reach the program, unless the user has requested to stop.
        await programs.finish()
        if let failure { throw failure }
    }
}

/// A starter of the user's program for the chosen events of a session.
final class ProgramStarter {
    private let programs: EventPrograms
    private let events: Set<RuleEvent>
    private let hasStates: Bool
    private var reports = ProximityReports()
    private var machine: ProximityMachine
    /// The newest second, by the wall clock.
    private var second = Timestamp.zero

    /// - Parameters:
    ///   - events: the events for which it runs.
    ///   - hasStates: whether it also runs when a region's state becomes known.
    init(_ programs: EventPrograms, events: [RuleEvent], hasStates: Bool) {
        self.programs = programs
        self.events = Set(events)
        self.hasStates = hasStates
        machine = ProximityMachine(events)
    }

    /// Runs the program for a region's change, if that is among the chosen events.
    func handle(_ change: RegionEvent) {
        let isMeant =
            switch change.kind {
            case .enter: events.contains(.enter)
            case .exit: events.contains(.exit)
            default: hasStates && events.contains(.enter)
            }
        guard isMeant else { return }
        var line: [UInt8] = []
        EventJSON.append(change, to: &line)
        programs.enqueue(line)
    }

    /// Runs the program for the events that a ranging report causes.
    ///
    /// - Parameters:
    ///   - report: the report, by the wall clock.
    ///   - time: the same second by the core's clock.
    ///   - receiver: the receiver.
    func handle(_ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID) {
        guard !machine.conditions.isEmpty else { return }
        second = report.time
        let changes = reports.receive(report, at: time, from: receiver).sorted { $0.beacon < $1.beacon }
        run(for: changes.flatMap { machine.receive($0) })
    }

    /// Runs the program for stays that have become long enough. Call it after all reports of the second.
    func settle() { run(for: machine.advance(to: reports.time)) }

    private func run(for matches: [ProximityMatch]) {
        for event in matches.compactMap({ reports.event(of: $0, at: second) }) {
            var line: [UInt8] = []
            EventJSON.append(event, to: &line)
            programs.enqueue(line)
        }
    }
}

/// A queue of events for the user's program, which runs for one event after another.
struct EventPrograms: Sendable {
    private let events: AsyncStream<[UInt8]>.Continuation
    private let worker: Task<Void, Never>

    /// Starts to wait for events.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - variables: the names of environment variables to pass besides the usual ones.
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

    /// Adds an event to the queue.
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
        do throws(CommandLineSplitter.Failure) {
            return try CommandLineSplitter.split(command)
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
            if !outcome.isSuccess { ErrorOutput.shared.write("Warning: \(name) \(outcome).") }
        } catch {
            ErrorOutput.shared.write("Warning: cannot run \(name): \(error).")
        }
    }
}
