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
/// A job counts without an end where it is submitted by
/// - code of a device: its callback, its queue, or a task made in `SimulatedDevice.run`,
/// - the task that made the air, or that calls it,
/// - a job that counts, so that all that follows counts, too.
///
/// The main queue's jobs cannot be seen, and a task that leaves it for another executor says nowhere which one it is.
/// So the main queue is passed several times, and whatever it submits in between is waited for, though it may belong
/// to another test: see ``MainQueueTasks``.
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
        guard let claim = claim(causedBy: cause) else { return false }
        // The runtime hands each job over once, and nothing else refers to it until it has run.
        let sent = UnsafeTransfer(job)
        DispatchQueue.global(qos: qos(of: job)).async {
            // The claim lives until the job has returned. Until then jobs that it submits read the claim.
            beacon_run_job(sent.value, UnsafeRawPointer(Unmanaged.passUnretained(claim).toOpaque()))
            withExtendedLifetime(claim) {}
        }
        return true
    }

    private static func claim(causedBy cause: Claim?) -> Claim? {
        // An abandoned job causes abandoned ones.
        var tokens = cause?.tokens.map { $0.counts ? $0.owner.begin() : $0 } ?? []
        func add(_ count: WorkCount) {
            if !tokens.contains(where: { $0.owner === count }) { tokens.append(count.begin()) }
        }
        if let count = BeaconCenter.taskCountOfCurrentCode { add(count) }
        let task = beacon_current_task()
        if task != 0 { tests.withLock { $0[task] }?.forEach(add) }
        if !tokens.isEmpty { return Claim(tokens) }
        return MainQueueTasks.claim(causedBy: cause?.main).map { Claim([], $0) }
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

    // MARK: - Tests

    /// The counts of the airs that a task has made or called.
    private static let tests = Locked<[UInt64: [WorkCount]]>([:])

    /// Counts from now on what the current task submits.
    static func noteTest(_ count: WorkCount) {
        let task = beacon_current_task()
        guard task != 0 else { return }
        tests.withLock { tests in
            if tests[task]?.contains(where: { $0 === count }) != true { tests[task, default: []].append(count) }
        }
    }

    /// Forgets an air that is gone.
    static func forgetTests(_ count: WorkCount) {
        tests.withLock { tests in
            tests = tests.compactMapValues { counts in
                let rest = counts.filter { $0 !== count }
                return rest.isEmpty ? nil : rest
            }
        }
    }
}
