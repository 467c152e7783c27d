internal import BeaconMonitoring
internal import BeaconSupport
internal import Foundation

extension SimulatedAir {
    /// Waits until all requests and callbacks have been handled, without advancing the time.
    ///
    /// Tasks are waited for as by `advance(by:)`.
    public func settle() async {
        WokenTasks.noteTest(begun)
        let end = patienceEnd
        repeat {
            let before = changes
            // Behind callbacks that wait on the main queue, and tasks of the main actor that they wake. Such a task
            // may go to another actor and come back several times, which cannot be counted.
            for _ in 0..<MainQueueTasks.rounds { await MainQueueTasks.pass() }
            if isSettled, changes == before { return noteSettled() }
        } while isPatient(until: end)
    }

    func settleOnRunLoop() {
        let end = patienceEnd
        repeat {
            let before = changes
            let isPassed = (0..<MainQueueTasks.rounds).allSatisfy { _ in MainQueueTasks.passOnRunLoop(until: end) }
            if isPassed, isSettled, changes == before { return noteSettled() }
        } while isPatient(until: end)
    }

    /// True where nothing has happened since all was handled last, so that no queue has to be passed.
    var isUnchanged: Bool { isSettled && state.withLock { $0.settledChanges } == changes }

    /// The counts of tasks.
    var tasks: [WorkCount] { state.withLock { $0.devices }.map(\.tasks) + [begun] }

    /// A number that is another whenever anything has happened to any of the devices.
    private var changes: UInt64 {
        let callbacks = state.withLock { $0.devices }.map(\.center.callbacks)
        return (callbacks + tasks).reduce(0) { $0 &+ $1.changes }
    }

    private func noteSettled() {
        let changes = changes
        state.withLock { $0.settledChanges = changes }
    }

    /// True where no callback, and no task that one woke, is under way, and all requests have been handled.
    private var isSettled: Bool {
        // A callback's requests were submitted to the queue before the callback counted as made, and those of a task
        // before it counted as run. So if nothing was under way before the queues had done their work, and nothing is
        // after it, nothing is left to be done.
        let wasAtRest = isAtRest
        var hasAnswered = false
        for device in state.withLock({ $0.devices }) {
            device.center.queue.sync {}
            if device.settleRadio() { hasAnswered = true }
        }
        return wasAtRest && !hasAnswered && isAtRest
    }

    /// True while no callback and no task that counts is under way.
    private var isAtRest: Bool {
        tasks.allSatisfy(\.isZero) && state.withLock { $0.devices }.allSatisfy(\.center.hasNoCallbacksUnderWay)
    }

    // MARK: - Patience

    /// How long a task may run: a test that waits for ever says nothing.
    private static let patience = Duration.seconds(10)

    private var patienceEnd: ContinuousClock.Instant {
        .now + (state.withLock { $0.isImpatient } ? .milliseconds(100) : Self.patience)
    }

    /// Returns false, and says so once, where a task has not come to rest in time. The task is abandoned, so that time
    /// does not stand still for one that never ends.
    private func isPatient(until end: ContinuousClock.Instant) -> Bool {
        guard ContinuousClock.now > end else { return true }
        for count in tasks { count.abandon() }
        let isFirst = state.withLock { state in
            defer { state.isImpatient = true }
            return !state.isImpatient
        }
        if isFirst {
            FileHandle.standardError.write(
                Data(
                    """
                    SimulatedAir: a callback, a task that a callback woke or one that the test began has run for \
                    \(Self.patience) without waiting for anything, or the main queue is not free. Time advances all \
                    the same. If a task polls, let it wait for an event instead. If the test is on the main actor, use \
                    'await advance(by:)'.

                    """.utf8))
        }
        return false
    }
}
