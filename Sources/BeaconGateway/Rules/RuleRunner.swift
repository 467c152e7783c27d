import BeaconPrograms
package import Foundation
import Logging

/// The runner of a rule's program, which runs one process at a time, no more often than the rule allows.
///
/// Events that arrive too fast wait. If more than `maximumWaiting` wait, the oldest are dropped and logged. The
/// newest event, which has the present state, is therefore always run.
package actor RuleRunner {
    /// An event that waits for the program.
    private struct Event {
        var line: [UInt8]
        /// Called with what went wrong; nil for success.
        var end: @Sendable (String?) -> Void
    }

    /// The results of a rule since the start.
    package struct Counts: Hashable, Sendable {
        var started = 0
        package var failed = 0
        var dropped = 0
    }

    let rule: Rule
    package private(set) var counts = Counts()
    /// The time of the program's last start.
    package private(set) var lastStart: Date?

    /// The reason why the last run failed; nil if it succeeded.
    private var failure: String?

    private let maximumWaiting: Int
    private let program: EventProgram
    private let logger: Logger
    private var schedule: LaunchSchedule
    private var waiting: [Event] = []
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false
    /// The runner of the rule before it was changed, whose events come first.
    private var predecessor: RuleRunner?

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - maximumWaiting: the most events that wait for the program.
    ///   - predecessor: the runner of the rule before it was changed; nil for none.
    init(_ rule: Rule, logger: Logger, maximumWaiting: Int = 1_000, after predecessor: RuleRunner? = nil) {
        self.predecessor = predecessor
        self.rule = rule
        self.maximumWaiting = maximumWaiting
        self.logger = logger
        schedule = LaunchSchedule(interval: rule.interval)
        program = EventProgram(rule)
    }

    /// The reason why the program cannot run; nil if it probably can.
    package nonisolated var fault: String? { program.fault }

    /// The reason why the program cannot run, or why it failed the last time; nil if neither is so.
    package var trouble: String? { fault ?? failure }

    /// Runs the program for an event, a line of JSON, as soon as the schedule allows.
    ///
    /// - Parameters:
    ///   - line: the event.
    ///   - end: called with the reason why the program did not run or failed; nil for success.
    func enqueue(_ line: [UInt8], end: @escaping @Sendable (String?) -> Void = { _ in }) {
        guard !isStopped else { return end("beacond ended before it was started") }
        waiting.append(Event(line: line, end: end))
        if waiting.count > maximumWaiting {
            waiting.removeFirst().end("too many events were waiting, and this one was dropped")
            counts.dropped += 1
            logger.warning("rule \(rule.name): more than \(maximumWaiting) events wait; dropping the oldest")
        }
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until the program has run for all waiting events. Events that would have to wait for the rule's interval
    /// are dropped and logged.
    func finish() async {
        isStopped = true
        pause?.cancel()
        await predecessor?.finish()
        await worker?.value
    }

    /// Ends the program, and does not start it again.
    func stop() async {
        isStopped = true
        worker?.cancel()
        pause?.cancel()
        await predecessor?.stop()
        await worker?.value
    }

    private func work() async {
        await predecessor?.finish()
        predecessor = nil
        while !waiting.isEmpty, !Task.isCancelled {
            let wait = schedule.wait(at: .now)
            if wait > .zero {
                if isStopped {
                    counts.dropped += waiting.count
                    logger.warning(
                        "rule \(rule.name): dropping \(waiting.count) events that waited for its interval to pass")
                    for event in waiting { event.end("beacond ended before the rule's interval had passed") }
                    break
                }
                let pause = Task { _ = try? await Task.sleep(for: wait) }
                self.pause = pause
                await pause.value
                continue
            }
            let event = waiting.removeFirst()
            schedule.start(at: .now)
            counts.started += 1
            lastStart = Date()
            let fault = await run(event.line)
            failure = fault
            if fault != nil { counts.failed += 1 }
            schedule.end(fault == nil)
            event.end(fault)
        }
        worker = nil
    }

    /// - Returns: what went wrong, as a sentence; nil for success.
    private func run(_ event: [UInt8]) async -> String? {
        let logger = logger
        let name = rule.name
        do {
            let outcome = try await program.run(
                input: event, output: .lines { logger.info("rule \(name): \($0)") })
            if Task.isCancelled || outcome.isSuccess { return nil }
            logger.warning("rule \(name): \(program.words[0]) \(outcome)")
            return "\(program.words[0]) \(outcome)"
        } catch {
            logger.error("rule \(name): cannot start \(program.words[0]): \(error)")
            return "it cannot be started: \(error)"
        }
    }
}

extension EventProgram {
    /// Creates the program of a rule.
    init(_ rule: Rule) {
        switch rule.target {
        case .program(let words)?: self.init(words, timeLimit: rule.timeLimit)
        // Passed as an argument vector: no shell reads the unit's name, and `--` keeps it from being an option.
        case .unit(let name)?: self.init(["systemctl", "start", "--", name], timeLimit: rule.timeLimit)
        // Unreachable: only rules with a program have a runner.
        case nil: self.init(["true"], timeLimit: rule.timeLimit)
        }
        folder = rule.folder
        environment = ProgramEnvironment.inherited(and: rule.environment)
        isOwnSession = true
    }
}

/// A schedule of starts: at most one per interval, with growing pauses after failures.
struct LaunchSchedule: Hashable, Sendable {
    /// The longest pause after failures.
    static let longest = Duration.seconds(3600)

    private let interval: Duration
    private var failures = 0
    private var last: ContinuousClock.Instant?

    /// Creates a schedule of at most one start in an interval.
    init(interval: Duration) { self.interval = interval }

    /// Returns the time to wait before the next start; zero for none.
    func wait(at now: ContinuousClock.Instant) -> Duration {
        guard let last else { return .zero }
        var pause = interval
        for _ in 0..<min(failures, 20) where pause < Self.longest { pause = max(pause * 2, .seconds(1)) }
        return max(.zero, last + (failures == 0 ? interval : min(pause, Self.longest)) - now)
    }

    /// Records a start.
    mutating func start(at now: ContinuousClock.Instant) { last = now }

    /// Records the end of a run, and whether it succeeded.
    mutating func end(_ isSuccess: Bool) { failures = isSuccess ? 0 : failures + 1 }
}
