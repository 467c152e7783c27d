import BeaconPrograms
import Logging

/// Starts what a rule says, for one event after another: never twice at once, never more often than the rule allows.
///
/// What happens too fast waits. Of more than ``mostWaiting`` events the oldest are dropped, which is told, so that the
/// newest, which says how things stand, always comes through.
actor RuleRunner {
    /// How many events wait at most.
    static let mostWaiting = 16

    /// How a rule did so far.
    struct Counts: Hashable, Sendable {
        var started = 0
        var failed = 0
        var dropped = 0
    }

    let rule: LaunchRule
    private(set) var counts = Counts()

    private let program: EventProgram
    private let logger: Logger
    private var times: LaunchTimes
    private var waiting: [[UInt8]] = []
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false

    /// A rule that has nothing to do yet.
    init(_ rule: LaunchRule, logger: Logger) {
        self.rule = rule
        self.logger = logger
        times = LaunchTimes(interval: rule.interval)
        program = EventProgram(rule)
    }

    /// Starts it for an event, as soon as that may be.
    func enqueue(_ event: LaunchEvent) {
        guard !isStopped else { return }
        waiting.append(event.line)
        if waiting.count > Self.mostWaiting {
            waiting.removeFirst()
            counts.dropped += 1
            logger.warning("rule \(rule.name): more events than it may be started for; the oldest is dropped")
        }
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until it was started for all that was waiting. What would have to wait longer for the rule's interval is
    /// dropped, and told.
    func finish() async {
        isStopped = true
        pause?.cancel()
        await worker?.value
    }

    /// Ends what runs, and starts nothing more.
    func stop() async {
        isStopped = true
        worker?.cancel()
        pause?.cancel()
        await worker?.value
    }

    private func work() async {
        while !waiting.isEmpty, !Task.isCancelled {
            let wait = times.wait(at: .now)
            if wait > .zero {
                if isStopped {
                    counts.dropped += waiting.count
                    logger.warning(
                        "rule \(rule.name): \(waiting.count) events were still waiting for its interval to pass")
                    break
                }
                let pause = Task { _ = try? await Task.sleep(for: wait) }
                self.pause = pause
                await pause.value
                continue
            }
            let event = waiting.removeFirst()
            times.start(at: .now)
            counts.started += 1
            let isSuccess = await run(event)
            if !isSuccess { counts.failed += 1 }
            times.end(isSuccess)
        }
        worker = nil
    }

    private func run(_ event: [UInt8]) async -> Bool {
        let logger = logger
        let name = rule.name
        do {
            let outcome = try await program.run(
                input: event, output: .lines { logger.info("rule \(name): \($0)") })
            if Task.isCancelled { return true }
            if !outcome.isSuccess { logger.warning("rule \(name): \(program.words[0]) \(outcome)") }
            return outcome.isSuccess
        } catch {
            logger.error("rule \(name): \(program.words[0]) could not be started: \(error)")
            return false
        }
    }
}

extension EventProgram {
    /// What a rule starts.
    init(_ rule: LaunchRule) {
        switch rule.target {
        case .program(let words): self.init(words, timeLimit: rule.timeLimit)
        // An argument vector: no shell reads the unit's name, and it cannot be an option.
        case .unit(let name): self.init(["systemctl", "start", "--", name], timeLimit: rule.timeLimit)
        }
        folder = rule.folder
        isOwnSession = true
    }
}
