internal import BeaconSupport
internal import Dispatch
internal import Foundation

/// The tasks of the main queue, which are not visible, and their calls of other actors, whose origin is not visible.
///
/// The main queue runs its jobs in order. After a pass through the queue, all earlier jobs have run.
///
/// The air also waits for jobs that the main queue submits to the default executor, and for jobs that follow from them,
/// of all tests. Therefore the wait is bounded: ``timeLimit`` for each job, and ``longestRow`` jobs in a row. A task of
/// another test that never ends, or that polls, delays the air only briefly.
enum MainQueueTasks {
    /// How often a task may switch from the main actor to another one and back while the air waits for it.
    static let rounds = 6

    /// How many passes are made: as many jobs of the main actor in a row may wake one another.
    private static let laps = 16

    /// How many jobs in a row the air waits for, starting with a job that the main queue submitted.
    private static let longestRow = 64

    /// How long the air waits for a job.
    private static let timeLimit = Duration.milliseconds(500)

    private static let mark = DispatchSpecificKey<Void>()
    private static let marking: Void = DispatchQueue.main.setSpecific(key: mark, value: ())

    /// Starts to observe the main queue's submissions.
    static func begin() { _ = marking }

    /// Makes a call on the main queue, and waits for it.
    static func perform(_ body: @MainActor () -> Void) {
        if DispatchQueue.getSpecific(key: mark) != nil { return MainActor.assumeIsolated(body) }
        DispatchQueue.main.sync { MainActor.assumeIsolated(body) }
    }

    // MARK: - Passing

    private static let resuming = DispatchQueue(label: "swift-beacon.resuming")

    private static func passMainQueue(laps: Int = laps, then done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async {
            if laps > 1 { passMainQueue(laps: laps - 1, then: done) } else { done() }
        }
    }

    /// Returns after the jobs that tasks of this priority have submitted to the default executor by yielding. These
    /// jobs are not visible.
    private static func passYields() async { for _ in 0..<3 { await Task.yield() } }

    /// Returns once the main queue has run its jobs, the jobs that these submitted to it, and the jobs that it
    /// submitted elsewhere.
    static func pass() async {
        await passYields()
        await withCheckedContinuation { continuation in
            passMainQueue {
                let waits = takeSubmitted()
                // The caller's next job must come from a queue other than the main one, so that the air does not wait
                // for it.
                guard !waits.isEmpty else { return resuming.async { continuation.resume() } }
                // This queue has its own thread, which may be blocked.
                DispatchQueue(label: "swift-beacon.waiting").async {
                    for wait in waits { _ = wait.jobs.wait(timeout: .now() + wait.left) }
                    continuation.resume()
                }
            }
        }
    }

    /// Does the same on the main thread, running its run loop while it waits.
    ///
    /// - Returns: false if the main queue was not free until the end, as in a test that is itself a job of it.
    static func passOnRunLoop(until end: Duration) -> Bool {
        let isDone = Locked(false)
        passMainQueue {
            resuming.async {
                // A task that starts here is not one that the air waits for.
                Task.detached {
                    await passYields()
                    // On the main queue, which wakes the run loop.
                    DispatchQueue.main.async { isDone.withLock { $0 = true } }
                }
            }
        }
        while !isDone.withLock({ $0 }) {
            guard KernelTime.now < end else { return false }
            runLoop()
        }
        for wait in takeSubmitted() {
            while wait.jobs.wait(timeout: .now()) == .timedOut, KernelTime.now < wait.end { runLoop() }
        }
        return true
    }

    private static func runLoop() {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
    }

    // MARK: - Submitted jobs

    /// A job that the main queue submitted, or that follows from such a job.
    final class Claim: Sendable {
        private let jobs: DispatchGroup
        fileprivate let number: Int

        /// The caller holds the lock.
        fileprivate init(_ jobs: DispatchGroup, _ number: Int) {
            self.jobs = jobs
            self.number = number
            jobs.enter()
        }

        deinit { jobs.leave() }
    }

    /// A group of jobs that the air waits for together.
    private struct Wait {
        var jobs: DispatchGroup
        /// A time of the kernel's clock.
        var end: Duration

        /// The time until the end.
        var left: DispatchTimeInterval { .nanoseconds(Int(max(0, (end - KernelTime.now) / .nanoseconds(1)))) }
    }

    private struct Submitted {
        /// The jobs since a test last started to wait.
        var newest = DispatchGroup()
        /// The jobs before. Another test has started to wait for them, but they may belong to this test.
        var earlier: [Wait] = []
    }

    private static let submitted = Locked(Submitted())

    /// Returns a claim for a job that is being submitted; nil if the job does not follow from the main queue.
    static func claim(causedBy cause: Claim?) -> Claim? {
        let number = (cause?.number ?? 0) + 1
        guard number <= longestRow, cause != nil || DispatchQueue.getSpecific(key: mark) != nil else { return nil }
        return submitted.withLock { Claim($0.newest, number) }
    }

    private static func takeSubmitted() -> [Wait] {
        submitted.withLock { submitted in
            let now = KernelTime.now
            submitted.earlier.removeAll { $0.end <= now || $0.jobs.wait(timeout: .now()) == .success }
            if submitted.newest.wait(timeout: .now()) == .timedOut {
                submitted.earlier.append(Wait(jobs: submitted.newest, end: now + timeLimit))
                submitted.newest = DispatchGroup()
            }
            return submitted.earlier
        }
    }
}
