internal import BeaconSupport
internal import Dispatch
internal import Foundation

/// The tasks of the main queue, which cannot be seen, and their calls of other actors, whose origin cannot be seen.
///
/// The main queue does its jobs in order. Therefore it is passed: then all that was in it before has been done.
///
/// The jobs that it gave to the default executor are waited for, too, and those that follow from them, of all tests.
/// Hence the wait has bounds: ``patience`` for each job, and ``row`` jobs in a row. A task of another test that never
/// ends, or polls, holds time up for a moment and no more.
enum MainQueueTasks {
    /// How often a task may go from the main actor to another one and back while time waits for it.
    static let rounds = 6

    /// How often the main queue is passed: as many jobs of the main actor in a row may wake one another.
    private static let laps = 16

    /// How many jobs in a row are waited for, from one that the main queue submitted.
    private static let row = 64

    /// How long a job is waited for, from when the wait begins.
    private static let patience = DispatchTimeInterval.milliseconds(500)

    private static let mark = DispatchSpecificKey<Void>()
    private static let marking: Void = DispatchQueue.main.setSpecific(key: mark, value: ())

    /// Begins to notice what the main queue submits.
    static func begin() { _ = marking }

    // MARK: - Passing

    private static let resuming = DispatchQueue(label: "swift-beacon.resuming")

    private static func passMainQueue(laps: Int = laps, then done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async {
            if laps > 1 { passMainQueue(laps: laps - 1, then: done) } else { done() }
        }
    }

    /// Returns behind the jobs that tasks of this priority have given to the default executor by yielding: these jobs
    /// cannot be seen.
    private static func passYields() async { for _ in 0..<3 { await Task.yield() } }

    /// Returns once the main queue has done its jobs, and those that these submitted to it, and once what it submitted
    /// elsewhere has run.
    static func pass() async {
        await passYields()
        await withCheckedContinuation { continuation in
            passMainQueue {
                let waits = takeSubmitted()
                // The caller's next job comes from another queue than the main one, and is not one of those waited for.
                guard !waits.isEmpty else { return resuming.async { continuation.resume() } }
                // This queue has a thread that may be blocked.
                DispatchQueue(label: "swift-beacon.waiting").async {
                    for wait in waits { _ = wait.jobs.wait(timeout: wait.end) }
                    continuation.resume()
                }
            }
        }
    }

    /// Does the same on the main thread, and runs its run loop as long as it waits.
    ///
    /// - Returns: false where the main queue was not free until the end, as in a test that is itself a job of it.
    static func passOnRunLoop(until end: ContinuousClock.Instant) -> Bool {
        let isDone = Locked(false)
        passMainQueue {
            resuming.async {
                // Begun here, the task is not one of those waited for.
                Task.detached {
                    await passYields()
                    // By the main queue, which wakes the run loop.
                    DispatchQueue.main.async { isDone.withLock { $0 = true } }
                }
            }
        }
        while !isDone.withLock({ $0 }) {
            guard ContinuousClock.now < end else { return false }
            runLoop()
        }
        for wait in takeSubmitted() {
            while wait.jobs.wait(timeout: .now()) == .timedOut, .now() < wait.end { runLoop() }
        }
        return true
    }

    private static func runLoop() {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
    }

    // MARK: - What it submits

    /// A job that the main queue submitted, or that follows from one.
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

    /// Jobs that are waited for together.
    private struct Wait {
        var jobs: DispatchGroup
        var end: DispatchTime
    }

    private struct Submitted {
        /// Those since a test last began to wait.
        var newest = DispatchGroup()
        /// Those before. Another test has begun to wait for them, and they may be this one's.
        var earlier: [Wait] = []
    }

    private static let submitted = Locked(Submitted())

    /// Returns a claim for a job that is submitted now; nil where it has nothing to do with the main queue.
    static func claim(causedBy cause: Claim?) -> Claim? {
        let number = (cause?.number ?? 0) + 1
        guard number <= row, cause != nil || DispatchQueue.getSpecific(key: mark) != nil else { return nil }
        return submitted.withLock { Claim($0.newest, number) }
    }

    private static func takeSubmitted() -> [Wait] {
        submitted.withLock { submitted in
            let now = DispatchTime.now()
            submitted.earlier.removeAll { $0.end <= now || $0.jobs.wait(timeout: now) == .success }
            if submitted.newest.wait(timeout: now) == .timedOut {
                submitted.earlier.append(Wait(jobs: submitted.newest, end: now + patience))
                submitted.newest = DispatchGroup()
            }
            return submitted.earlier
        }
    }
}
