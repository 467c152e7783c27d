import BeaconPrograms
package import Foundation
import Logging

/// The runner of a rule's program: for one event after another, one process at a time, and not more often than the rule
/// allows.
///
/// Events that come too fast wait. Of more than ``mostWaiting`` the oldest are dropped and logged, so that the newest,
/// which has the present state, is always run.
package actor RuleRunner {
    /// The most events that wait.
    static let mostWaiting = 16

    /// An event that waits for the program.
    private struct Event {
        var line: [UInt8]
        /// Is told what went wrong, or that nothing did.
        var end: @Sendable (String?) -> Void
    }

    /// The results of a rule so far.
    package struct Counts: Hashable, Sendable {
        var started = 0
        package var failed = 0
        var dropped = 0
    }

    let rule: Rule
    package private(set) var counts = Counts()
    /// When the program was started last.
    package private(set) var lastStart: Date?

    private let program: EventProgram
    private let logger: Logger
    private var schedule: LaunchSchedule
    private var waiting: [Event] = []
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false

    /// Creates a runner.
    init(_ rule: Rule, logger: Logger) {
        self.rule = rule
        self.logger = logger
        schedule = LaunchSchedule(interval: rule.interval)
        program = EventProgram(rule)
    }

    /// Runs the program for an event, a line of JSON, as soon as the schedule allows.
    ///
    /// - Parameters:
    ///   - line: the event.
    ///   - most: the most events that may wait.
    ///   - end: is told why the program did not run or failed, or nil.
    func enqueue(
        _ line: [UInt8], most: Int = RuleRunner.mostWaiting, end: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        guard !isStopped else { return end("beacond ended before it was started") }
        waiting.append(Event(line: line, end: end))
        if waiting.count > most {
            waiting.removeFirst().end("too many events waited for it, and this one was dropped")
            counts.dropped += 1
            logger.warning("rule \(rule.name): more than \(most) events wait; the oldest is dropped")
        }
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until the program was run for all waiting events. Those that would have to wait for the rule's interval
    /// are dropped and logged.
    func finish() async {
        isStopped = true
        pause?.cancel()
        await worker?.value
    }

    /// Ends the program, and does not start it again.
    func stop() async {
        isStopped = true
        worker?.cancel()
        pause?.cancel()
        await worker?.value
    }

    private func work() async {
        while !waiting.isEmpty, !Task.isCancelled {
            let wait = schedule.wait(at: .now)
            if wait > .zero {
                if isStopped {
                    counts.dropped += waiting.count
                    logger.warning(
                        "rule \(rule.name): \(waiting.count) events are dropped, which waited for its interval to pass")
                    for event in waiting { event.end("beacond ended before its interval had passed") }
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
            if fault != nil { counts.failed += 1 }
            schedule.end(fault == nil)
            event.end(fault)
        }
        worker = nil
    }

    /// - Returns: what went wrong, in a sentence; nil where nothing did.
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
        // An argument vector: no shell reads the unit's name, and it cannot be an option.
        case .unit(let name)?: self.init(["systemctl", "start", "--", name], timeLimit: rule.timeLimit)
        // Nobody makes a runner of a rule without a program.
        case nil: self.init(["true"], timeLimit: rule.timeLimit)
        }
        folder = rule.folder
        environment = ProgramEnvironment.inherited(and: rule.environment)
        isOwnSession = true
    }
}

/// A schedule of starts: at most one in an interval, and fewer and fewer while they fail.
struct LaunchSchedule: Hashable, Sendable {
    /// The longest wait after failures.
    static let longest = Duration.seconds(3600)

    private let interval: Duration
    private var failures = 0
    private var last: ContinuousClock.Instant?

    /// Creates a schedule of at most one start in an interval.
    init(interval: Duration) { self.interval = interval }

    /// Returns the time to wait before the next start; zero if it may be at once.
    func wait(at now: ContinuousClock.Instant) -> Duration {
        guard let last else { return .zero }
        var pause = interval
        for _ in 0..<min(failures, 20) where pause < Self.longest { pause = max(pause * 2, .seconds(1)) }
        return max(.zero, last + (failures == 0 ? interval : min(pause, Self.longest)) - now)
    }

    /// Notes a start.
    mutating func start(at now: ContinuousClock.Instant) { last = now }

    /// Notes the end of a run, and whether it succeeded.
    mutating func end(_ isSuccess: Bool) { failures = isSuccess ? 0 : failures + 1 }
}
