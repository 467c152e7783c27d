import BeaconPrograms
import BeaconSupport
package import Foundation
import Logging

/// The runner of a rule's program, which runs one process at a time, no more often than the rule allows.
///
/// Events that arrive too fast wait. If more than `maximumWaiting` wait, the oldest are dropped and logged. The
/// newest event, which has the present state, is therefore always run.
package final class RuleRunner: Sendable {
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

    private struct State {
        var counts = Counts()
        var lastStart: Date?
        /// The reason why the last run failed; nil if it succeeded.
        var failure: String?
        var schedule: LaunchSchedule
        var waiting: [Event] = []
        var worker: Task<Void, Never>?
        var pause: Task<Void, Never>?
        var end: End?

        /// Ends the runner.
        ///
        /// - Returns: the events that it does not run.
        mutating func end(_ end: End) -> [Event] {
            if case .replaced? = self.end { return [] }
            self.end = end
            pause?.cancel()
            if case .finishing = end { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    /// The way in which a runner ends.
    private enum End {
        /// It runs the waiting events that need not wait for the rule's interval.
        case finishing
        /// It starts no program any longer, for this reason.
        case ended(String)
        /// The rule was changed, and its new runner runs the events.
        case replaced(RuleRunner)
    }

    private let name: String
    private let maximumWaiting: Int
    private let program: EventProgram
    private let logger: Logger
    private let state: Locked<State>

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - maximumWaiting: the most events that wait for the program.
    ///   - predecessor: the runner of the rule before it was changed; nil for none. Its waiting events are run by this
    ///     one, once the program that it has started ends.
    init(_ rule: Rule, logger: Logger, maximumWaiting: Int = 1_000, after predecessor: RuleRunner? = nil) {
        (name, self.maximumWaiting, self.logger) = (rule.name, maximumWaiting, logger)
        program = EventProgram(rule)
        state = Locked(State(schedule: LaunchSchedule(interval: rule.interval)))
        guard let predecessor else { return }
        state.withLock { state in
            let worker: Task<Void, Never>?
            (state.waiting, state.schedule, worker) = predecessor.state.withLock {
                ($0.end(.replaced(self)), LaunchSchedule(interval: rule.interval, after: $0.schedule), $0.worker)
            }
            if worker != nil || !state.waiting.isEmpty { state.worker = Task { await work(after: worker) } }
        }
    }

    /// The results since the start.
    package var counts: Counts { state.withLock { $0.counts } }

    /// True while the program runs, or events wait for it.
    var isWorking: Bool { state.withLock { $0.worker != nil } }

    /// The time of the program's last start.
    package var lastStart: Date? { state.withLock { $0.lastStart } }

    /// The reason why the program cannot run; nil if it probably can.
    package var fault: String? { program.fault }

    /// The reason why the program cannot run, or why it failed the last time; nil if neither is so.
    package var trouble: String? { fault ?? state.withLock { $0.failure } }

    /// Runs the program for an event, a line of JSON, as soon as the schedule allows.
    ///
    /// - Parameters:
    ///   - line: the event.
    ///   - end: called with the reason why the program did not run or failed; nil for success.
    func enqueue(_ line: [UInt8], end: @escaping @Sendable (String?) -> Void = { _ in }) {
        let (ending, dropped) = state.withLock { state -> (End?, Event?) in
            if let end = state.end { return (end, nil) }
            state.waiting.append(Event(line: line, end: end))
            if state.worker == nil { state.worker = Task { await work() } }
            guard state.waiting.count > maximumWaiting else { return (nil, nil) }
            state.counts.dropped += 1
            return (nil, state.waiting.removeFirst())
        }
        switch ending {
        case .replaced(let runner)?: runner.enqueue(line, end: end)
        case .ended(let reason)?: end(reason)
        case .finishing?: end(Self.isEnding)
        case nil: break
        }
        guard let dropped else { return }
        dropped.end("too many events were waiting, and this one was dropped")
        logger.warning("rule \(name): more than \(maximumWaiting) events wait; dropping the oldest")
    }

    private static let isEnding = "beacond ended before it was started"

    /// Waits until the program has run for all waiting events. Events that would have to wait for the rule's interval
    /// are dropped and logged.
    func finish() async {
        let worker = state.withLock { state in
            _ = state.end(.finishing)
            return state.worker
        }
        await worker?.value
    }

    /// Ends the program, and does not start it again. The waiting events are dropped and logged.
    func stop() async {
        drop(Self.isEnding)
        let worker = state.withLock { $0.worker }
        worker?.cancel()
        await worker?.value
    }

    /// Drops the waiting events for a reason, and starts the program for none any longer. A program that runs is not
    /// ended.
    func drop(_ reason: String) { drop(state.withLock { $0.end(.ended(reason)) }, reason) }

    private func drop(_ events: [Event], _ reason: String) {
        if events.isEmpty { return }
        state.withLock { $0.counts.dropped += events.count }
        logger.warning("rule \(name): dropping \(events.count) waiting events: \(reason)")
        for event in events { event.end(reason) }
    }

    /// - Parameter predecessor: the work of the rule before it was changed.
    private func work(after predecessor: Task<Void, Never>? = nil) async {
        await withTaskCancellationHandler {
            await predecessor?.value
        } onCancel: {
            predecessor?.cancel()
        }
        while let event = await next() {
            let fault = await run(event.line)
            state.withLock { state in
                state.failure = fault
                if fault != nil { state.counts.failed += 1 }
                state.schedule.end(fault == nil)
            }
            event.end(fault)
        }
    }

    /// Returns the next event as soon as the schedule allows; nil if none waits.
    private func next() async -> Event? {
        while true {
            let (event, pause, dropped) = state.withLock { state -> (Event?, Task<Void, Never>?, [Event]) in
                let wait = state.schedule.wait(at: .now)
                guard !state.waiting.isEmpty, wait == .zero || state.end == nil else {
                    state.worker = nil
                    defer { state.waiting = [] }
                    return (nil, nil, state.waiting)
                }
                guard wait == .zero else {
                    let pause = Task { _ = try? await Task.sleep(for: wait) }
                    state.pause = pause
                    return (nil, pause, [])
                }
                state.schedule.start(at: .now)
                state.counts.started += 1
                state.lastStart = Date()
                return (state.waiting.removeFirst(), nil, [])
            }
            drop(dropped, "beacond ended before the rule's interval had passed")
            guard let pause else { return event }
            await pause.value
        }
    }

    /// - Returns: what went wrong, as a sentence; nil for success.
    private func run(_ event: [UInt8]) async -> String? {
        do {
            let outcome = try await program.run(
                input: event, output: .lines { [logger, name] in logger.info("rule \(name): \($0)") })
            if outcome.isSuccess { return nil }
            if Task.isCancelled { return "beacond ended, and ended it" }
            logger.warning("rule \(name): \(program.words[0]) \(outcome)")
            return "\(program.words[0]) \(outcome)"
        } catch {
            if Task.isCancelled { return Self.isEnding }
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
    ///
    /// - Parameter earlier: the schedule of the rule before it was changed. Its failures no longer count.
    init(interval: Duration, after earlier: LaunchSchedule? = nil) { (self.interval, last) = (interval, earlier?.last) }

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
