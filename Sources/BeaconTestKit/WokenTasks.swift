internal import BeaconMonitoring
internal import BeaconSupport
internal import CTaskJobs
internal import Dispatch

/// The tasks that a simulated air waits for before its time passes.
///
/// A callback wakes a task when it resumes a continuation, yields to a stream or starts a task, and that task may wake
/// others. Swift does not report that a task has stopped running for now. Therefore this type runs the jobs of the
/// default executor that follow from a device or from the test, and counts each of them until it has run. All other
/// jobs of the process run in Swift's executor at once.
///
/// A job counts if it is submitted by
/// - code of a device: its callback, its queue, or a task started in `SimulatedDevice.run`,
/// - the task that created the air, or that calls it,
/// - a job that counts, or a task that had one, so that everything that follows counts, too.
///
/// Each later job of such a task also counts, whatever wakes it. `Task.yield` submits a job to Swift that is not
/// visible, and the next job is recognized by its task alone. In between, such a task may be mistaken for a waiting one
/// if its thread is delayed.
///
/// The main queue's jobs are not visible, and a task that leaves the main queue for an actor cannot be identified. So
/// the air makes several passes through the main queue, and waits for all jobs that the queue submits in between, even
/// though they may belong to another test. See ``MainQueueTasks``.
enum WokenTasks {
    /// A job that the air waits for until it has run.
    private final class Claim: Sendable {
        let tokens: [WorkCount.Token]
        /// The claim of a job that follows from the main queue only; nil for other jobs.
        let main: MainQueueTasks.Claim?

        init(_ tokens: [WorkCount.Token], _ main: MainQueueTasks.Claim? = nil) {
            self.tokens = tokens
            self.main = main
        }
    }

    /// Starts to observe tasks. Harmless if called again, and necessary if another library has used Swift's hook.
    static func begin() {
        MainQueueTasks.begin()
        beacon_offer_jobs { job, cause in
            guard let job else { return false }
            return WokenTasks.take(job, causedBy: cause)
        }
    }

    /// Takes over a job if the air must wait for it.
    ///
    /// - Returns: false if Swift should run the job.
    private static func take(_ job: UnsafeMutableRawPointer, causedBy cause: UnsafeRawPointer?) -> Bool {
        let cause = cause.map { Unmanaged<Claim>.fromOpaque($0).takeUnretainedValue() }
        let task = beacon_task_of_job(job)
        let claim = claim(of: task, causedBy: cause)
        let isControlled = ClockControl.isInUse
        guard claim != nil || isControlled && isTest(task) else { return false }
        // If code of the app blocks all threads of a global queue, libdispatch adds one after a second, of a clock that
        // these jobs may have to move. A separate queue has its own thread.
        let priority = qos(of: job)
        let queue =
            isControlled
            ? DispatchQueue(label: "swift-beacon.task", qos: DispatchQoS(qosClass: priority, relativePriority: 0))
            : DispatchQueue.global(qos: priority)
        // The runtime passes each job once, and nothing else refers to it until it has run.
        let sent = UnsafeTransfer(job)
        queue.async {
            // The claim lives until the job has returned, since jobs that it submits read the claim.
            beacon_run_job(sent.value, claim.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
            withExtendedLifetime(claim) {}
        }
        return true
    }

    private static func isTest(_ task: UInt64) -> Bool { tasks.withLock { $0.tests[task] != nil } }

    private static func claim(of job: UInt64, causedBy cause: Claim?) -> Claim? {
        var marks = cause?.tokens.map(\.mark) ?? []
        func add(_ mark: WorkCount.Mark) {
            if !marks.contains(where: { $0.owner === mark.owner }) { marks.append(mark) }
        }
        let task = beacon_current_task()
        let count = BeaconCenter.taskCountOfCurrentCode
        tasks.withLock { tasks in
            // First: a job that an abandoned job submits is abandoned, too.
            tasks.members[task]?.forEach(add)
            tasks.tests[task]?.forEach { add($0.mark) }
            if let count { add(count.mark) }
            guard job != 0, tasks.tests[job] == nil else { return }
            // Last: a new cause replaces an abandoned one.
            tasks.members[job]?.forEach(add)
            if !marks.isEmpty { tasks.members[job] = marks }
        }
        guard !marks.isEmpty else { return MainQueueTasks.claim(causedBy: cause?.main).map { Claim([], $0) } }
        return Claim(marks.map { $0.begin() })
    }

    /// The quality-of-service class for a job's priority.
    private static func qos(of job: UnsafeMutableRawPointer) -> DispatchQoS.QoSClass {
        // A job is passed as a pointer, and this is the library's type for it.
        switch unsafeBitCast(job, to: UnownedJob.self).priority.rawValue {
        case 25...: .userInitiated
        case 18...: .default
        case 10...: .utility
        default: .background
        }
    }

    // MARK: - Tasks

    /// Tasks by number.
    private struct Tasks {
        /// The counts of the airs that a task has created or called.
        var tests: [UInt64: [WorkCount]] = [:]
        /// The counts in which jobs of a task have counted.
        var members: [UInt64: [WorkCount.Mark]] = [:]
    }

    private static let tasks = Locked(Tasks())

    /// Counts jobs that the current task submits from now on. Its own jobs do not count: it drives the time.
    static func noteTest(_ count: WorkCount) {
        let task = beacon_current_task()
        guard task != 0 else { return }
        tasks.withLock { tasks in
            tasks.members[task] = nil
            if tasks.tests[task]?.contains(where: { $0 === count }) != true {
                tasks.tests[task, default: []].append(count)
            }
        }
    }

    /// Forgets the counts of a deallocated air.
    static func forget(_ counts: [WorkCount]) {
        tasks.withLock { tasks in
            tasks.tests = tasks.tests.compactMapValues { all in
                let rest = all.filter { count in !counts.contains { $0 === count } }
                return rest.isEmpty ? nil : rest
            }
            tasks.members = tasks.members.compactMapValues { all in
                let rest = all.filter { mark in !counts.contains { $0 === mark.owner } }
                return rest.isEmpty ? nil : rest
            }
        }
    }
}
