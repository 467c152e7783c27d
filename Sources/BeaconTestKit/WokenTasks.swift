internal import BeaconMonitoring
internal import BeaconSupport
internal import CTaskJobs
internal import Dispatch
internal import Foundation

/// The tasks that a device's callbacks wake, so that simulated time waits until they have run.
///
/// A callback wakes a task when it resumes a continuation, yields to a stream or begins a task, and that task may wake
/// others. Swift reports nowhere that a task runs no further for now. Therefore each job of the default executor is run
/// here, on the queues that the executor itself would use, and counted until it has run. A job counts for the devices
/// of the code that submits it: a callback, a task made in `SimulatedDevice.run`, or a job that counts itself. Jobs of
/// the main actor cannot be counted. They run in order with all else on the main queue, which is therefore passed
/// several times.
///
/// Executors of other kinds and closures on dispatch queues are not waited for, nor is a task of the main
/// actor that goes to other actors and back more than ``rounds`` times in a row.
enum WokenTasks {
    /// A job that counts, with the devices that wait for it.
    private final class Claim: Sendable {
        let counts: [CallbackCount]
        private let tokens: [CallbackCount.Token]

        init(_ counts: [CallbackCount]) {
            self.counts = counts
            tokens = counts.map { $0.begin() }
        }
    }

    /// A process that has many tests of other kinds leaves its jobs to Swift with `BEACON_TASKS=uncounted`: their loops
    /// that yield keep the counted jobs waiting.
    private static let taking: Void = {
        guard ProcessInfo.processInfo.environment["BEACON_TASKS"] != "uncounted" else { return }
        beacon_take_jobs { job, cause in
            if let job { WokenTasks.take(job, causedBy: cause) }
        }
    }()

    /// Begins to run the process's jobs. Doing so twice is harmless.
    static func begin() { _ = taking }

    private static func take(_ job: UnsafeMutableRawPointer, causedBy cause: UnsafeRawPointer?) {
        let group = newest.withLock { newest in
            newest.enter()
            return newest
        }
        let counts = counts(causedBy: cause)
        let claim = counts.isEmpty ? nil : Claim(counts)
        // The runtime hands each job over once, and nothing else refers to it until it has run.
        let sent = UnsafeTransfer(job)
        DispatchQueue.global(qos: qos(of: job)).async {
            // The claim lives until the job has returned. Until then jobs that it submits read the claim.
            beacon_run_job(sent.value, claim.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
            withExtendedLifetime(claim) {}
            group.leave()
        }
    }

    private static func counts(causedBy cause: UnsafeRawPointer?) -> [CallbackCount] {
        if let cause { return Unmanaged<Claim>.fromOpaque(cause).takeUnretainedValue().counts }
        return CallbackCount.ofCurrentCode.map { [$0] } ?? []
    }

    /// The queue that the default executor has for a job's priority.
    private static func qos(of job: UnsafeMutableRawPointer) -> DispatchQoS.QoSClass {
        // A job is handed around as a pointer to it, and this is the library's type for that.
        switch unsafeBitCast(job, to: UnownedJob.self).priority.rawValue {
        case 25...: .userInitiated
        case 18...: .default
        case 10...: .utility
        default: .background
        }
    }

    // MARK: - The main queue

    /// How often a task may go from the main actor to another one and back while time waits for it.
    static let rounds = 6

    /// How often the main queue is passed: as many jobs of the main actor in a row may wake one another.
    private static let laps = 16

    /// Calls `done` once the main queue has been passed.
    private static func passMainQueue(laps: Int = laps, then done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async {
            if laps > 1 { passMainQueue(laps: laps - 1, then: done) } else { done() }
        }
    }

    /// Returns once the main queue has done its jobs, and those that these submitted to it.
    static func passMainQueue() async {
        await withCheckedContinuation { continuation in passMainQueue { continuation.resume() } }
    }

    /// Runs the run loop of the main thread until the main queue has been passed.
    static func passMainQueueOnRunLoop() {
        let isDone = Locked(false)
        passMainQueue { isDone.withLock { $0 = true } }
        while !isDone.withLock({ $0 }) {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
        }
    }

    // MARK: - Begun tasks

    /// How long a test waits for tasks that it does not count before time advances: some may be those of other tests.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    /// The jobs that were submitted since time last began to advance.
    private static let newest = Locked(DispatchGroup())

    private static let chaining = DispatchQueue(label: "swift-beacon.begun")

    /// The jobs that were submitted so far: a task that the test has begun is among them.
    private static func takeNewest() -> DispatchGroup {
        newest.withLock { newest in
            let taken = newest
            let next = DispatchGroup()
            // Another test may take the next ones, and waits for these as well.
            next.enter()
            taken.notify(queue: chaining) { next.leave() }
            newest = next
            return taken
        }
    }

    /// Returns once each task that was begun before has run until it waits for something.
    static func passBegunTasks() async {
        let jobs = takeNewest()
        await withCheckedContinuation { continuation in
            // This queue has a thread that may be blocked. The caller is itself one of the jobs, until it waits here.
            DispatchQueue(label: "swift-beacon.waiting").async {
                _ = jobs.wait(timeout: .now() + patience)
                continuation.resume()
            }
        }
    }

    /// Runs the run loop of the main thread until each task that was begun before has run.
    static func passBegunTasksOnRunLoop() {
        let jobs = takeNewest()
        let end = DispatchTime.now() + patience
        while jobs.wait(timeout: .now()) == .timedOut, .now() < end {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
        }
    }
}
