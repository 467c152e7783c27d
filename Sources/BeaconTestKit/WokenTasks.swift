internal import BeaconMonitoring
internal import BeaconSupport
internal import CTaskJobs
internal import Dispatch

/// The tasks that a simulated air has to do with, so that its time waits until they have run.
///
/// A callback wakes a task when it resumes a continuation, yields to a stream or begins a task, and that task may wake
/// others. Swift reports nowhere that a task runs no further for now. Therefore the jobs of the default executor that
/// follow from a device or from the test are run here, and each counts until it has run. All other jobs of the process
/// go to Swift at once.
///
/// A job counts where it is submitted by
/// - code of a device: its callback, its queue, or a task made in `SimulatedDevice.run`,
/// - the task that made the air, or that calls it,
/// - a job that counts, or a task that had one, so that all that follows counts, too.
///
/// So does each later job of such a task, whatever wakes it. `Task.yield` gives Swift a job that cannot be seen, and
/// the next one is known by its task alone. In between such a task is taken for one that waits if its thread is held
/// up.
///
/// The main queue's jobs cannot be seen, and a task that leaves it for an actor says nowhere which one it is. So the
/// main queue is passed several times, and whatever it submits in between is waited for, though it may belong to
/// another test: see ``MainQueueTasks``.
enum WokenTasks {
    /// A job that is waited for until it has run.
    private final class Claim: Sendable {
        let tokens: [WorkCount.Token]
        /// The claim of a job that follows from the main queue alone; nil for others.
        let main: MainQueueTasks.Claim?

        init(_ tokens: [WorkCount.Token], _ main: MainQueueTasks.Claim? = nil) {
            self.tokens = tokens
            self.main = main
        }
    }

    /// Begins to wait for tasks. Doing so again is harmless, and needed where another library has used Swift's hook.
    static func begin() {
        MainQueueTasks.begin()
        beacon_offer_jobs { job, cause in
            guard let job else { return false }
            return WokenTasks.take(job, causedBy: cause)
        }
    }

    /// Takes a job if time has to wait for it.
    ///
    /// - Returns: false for one that Swift is to run.
    private static func take(_ job: UnsafeMutableRawPointer, causedBy cause: UnsafeRawPointer?) -> Bool {
        let cause = cause.map { Unmanaged<Claim>.fromOpaque($0).takeUnretainedValue() }
        guard let claim = claim(of: beacon_task_of_job(job), causedBy: cause) else { return false }
        // The runtime hands each job over once, and nothing else refers to it until it has run.
        let sent = UnsafeTransfer(job)
        DispatchQueue.global(qos: qos(of: job)).async {
            // The claim lives until the job has returned. Until then jobs that it submits read the claim.
            beacon_run_job(sent.value, UnsafeRawPointer(Unmanaged.passUnretained(claim).toOpaque()))
            withExtendedLifetime(claim) {}
        }
        return true
    }

    private static func claim(of job: UInt64, causedBy cause: Claim?) -> Claim? {
        var marks = cause?.tokens.map(\.mark) ?? []
        func add(_ mark: WorkCount.Mark) {
            if !marks.contains(where: { $0.owner === mark.owner }) { marks.append(mark) }
        }
        let task = beacon_current_task()
        let count = BeaconCenter.taskCountOfCurrentCode
        tasks.withLock { tasks in
            // First: a job that an abandoned one submits is abandoned, too.
            tasks.members[task]?.forEach(add)
            tasks.tests[task]?.forEach { add($0.mark) }
            if let count { add(count.mark) }
            guard job != 0, tasks.tests[job] == nil else { return }
            // Last: a new cause takes the place of one that was abandoned.
            tasks.members[job]?.forEach(add)
            if !marks.isEmpty { tasks.members[job] = marks }
        }
        guard !marks.isEmpty else { return MainQueueTasks.claim(causedBy: cause?.main).map { Claim([], $0) } }
        return Claim(marks.map { $0.begin() })
    }

    /// The service class of a job's priority.
    private static func qos(of job: UnsafeMutableRawPointer) -> DispatchQoS.QoSClass {
        // A job is handed around as a pointer to it, and this is the library's type for that.
        switch unsafeBitCast(job, to: UnownedJob.self).priority.rawValue {
        case 25...: .userInitiated
        case 18...: .default
        case 10...: .utility
        default: .background
        }
    }

    // MARK: - Tasks

    /// Tasks by their numbers.
    private struct Tasks {
        /// The counts of the airs that a task has made or called.
        var tests: [UInt64: [WorkCount]] = [:]
        /// The counts for which a job of a task has counted.
        var members: [UInt64: [WorkCount.Mark]] = [:]
    }

    private static let tasks = Locked(Tasks())

    /// Counts from now on what the current task submits. Its own jobs do not count as such: it drives the time.
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

    /// Forgets the counts of an air that is gone.
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
