internal import BeaconMonitoring
internal import BeaconSupport
internal import Foundation

extension SimulatedAir {
    /// Waits until all requests and callbacks have been handled, without advancing the time.
    ///
    /// It waits for the same tasks as `advance(by:)`.
    public func settle() async {
        WokenTasks.noteTest(begun)
        if controlsTime { return await onClockQueue { $0.waitForIdleProcess() } }
        let end = waitEnd
        repeat {
            let before = changes
            // Passes the main queue behind waiting callbacks and the main actor tasks that they wake. Such a task may
            // switch to another actor and back several times, which cannot be counted.
            for _ in 0..<MainQueueTasks.rounds { await MainQueueTasks.pass() }
            guard isSettled, changes == before else { continue }
            guard hasDueWork else { return noteSettled() }
            for device in devices where device.carryOutDueWork() { await MainActor.run { device.performMainWork() } }
        } while hasTime(until: end)
    }

    func settleOnRunLoop() {
        let end = waitEnd
        repeat {
            let before = changes
            let isPassed = (0..<MainQueueTasks.rounds).allSatisfy { _ in MainQueueTasks.passOnRunLoop(until: end) }
            guard isPassed, isSettled, changes == before else { continue }
            guard hasDueWork else { return noteSettled() }
            for device in devices where device.carryOutDueWork() {
                MainActor.assumeIsolated { device.performMainWork() }
            }
        } while hasTime(until: end)
    }

    /// True if nothing has happened since everything was last handled, so that no queue needs to be passed.
    var isUnchanged: Bool { isSettled && state.withLock { $0.settledChanges } == changes && !hasDueWork }

    var devices: [SimulatedDevice] { state.withLock { $0.devices } }

    /// True if a device's app must be suspended, launched or ended now.
    var hasDueWork: Bool {
        let (devices, now) = state.withLock { ($0.devices, $0.now) }
        return devices.contains { $0.hasDueWork(at: now) }
    }

    /// The task counts of the devices and the test.
    var tasks: [WorkCount] { devices.map(\.tasks) + [begun] }

    /// A number that changes whenever anything happens to any device.
    private var changes: UInt64 {
        let callbacks = devices.map(\.center.callbacks)
        return (callbacks + tasks).reduce(0) { $0 &+ $1.changes }
    }

    func noteSettled() {
        let changes = changes
        state.withLock { $0.settledChanges = changes }
    }

    /// True if no callback and no task that a callback woke is under way, and all requests have been handled.
    var isSettled: Bool {
        // A callback submits its requests to the queue before it counts as made, and a task before it counts as run. So
        // if nothing was under way before the queues finished their work, and nothing is after it, no work is left.
        let wasAtRest = isAtRest
        var hasAnswered = false
        for device in devices {
            device.center.queue.sync {}
            if device.settleRadio() { hasAnswered = true }
        }
        return wasAtRest && !hasAnswered && isAtRest
    }

    /// True while no callback and no counted task is under way.
    private var isAtRest: Bool {
        tasks.allSatisfy(\.isZero) && devices.allSatisfy(\.center.hasNoCallbacksUnderWay)
    }

    // MARK: - Time limit

    /// How long a task may run. Otherwise a test with an endless task would never fail.
    private static let timeLimit = Duration.seconds(10)

    /// The time of the kernel's clock at which the air stops waiting.
    var waitEnd: Duration {
        KernelTime.now + (state.withLock { $0.hasTimedOut } ? .milliseconds(100) : Self.timeLimit)
    }

    /// Returns false if a task has not come to rest in time, and reports it once. The task is abandoned, so that an
    /// endless task does not stop the time.
    func hasTime(until end: Duration) -> Bool {
        guard KernelTime.now > end else { return true }
        for count in tasks { count.abandon() }
        let isFirst = state.withLock { state in
            defer { state.hasTimedOut = true }
            return !state.hasTimedOut
        }
        if isFirst {
            FileHandle.standardError.write(
                Data(
                    """
                    SimulatedAir: a callback, a task that a callback woke or one that the test began has run for \
                    \(Self.timeLimit) without waiting for anything, or the main queue is not free. Time advances \
                    anyway. If a task polls, let it wait for an event instead. If the test is on the main actor, use \
                    'await advance(by:)'.

                    """.utf8))
        }
        return false
    }
}
