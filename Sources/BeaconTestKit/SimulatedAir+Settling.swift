internal import BeaconMonitoring
internal import BeaconSupport
internal import Foundation

extension SimulatedAir {
    /// Waits until all requests and callbacks have been handled, without advancing the time.
    public func settle() async {
        let end = patienceEnd
        repeat {
            let before = changes
            // Behind callbacks that wait on the main queue, and tasks of the main actor that they wake. Such a task
            // may go to another actor and come back several times, which cannot be counted.
            for _ in 0..<WokenTasks.rounds {
                await WokenTasks.passMainQueue()
                await WokenTasks.passBegunTasks()
            }
            if isSettled, changes == before { return noteSettled() }
        } while isPatient(until: end)
    }

    func settleOnRunLoop() {
        let end = patienceEnd
        repeat {
            let before = changes
            for _ in 0..<WokenTasks.rounds {
                WokenTasks.passMainQueueOnRunLoop()
                WokenTasks.passBegunTasksOnRunLoop()
            }
            if isSettled, changes == before { return noteSettled() }
        } while isPatient(until: end)
    }

    /// True where nothing has happened since all was handled last, so that no queue has to be passed.
    var isUnchanged: Bool { isSettled && state.withLock { $0.settledChanges } == changes }

    private var counts: [CallbackCount] { state.withLock { $0.devices }.map(\.center.callbacks) }

    /// A number that is another whenever anything has happened to any of the devices.
    private var changes: UInt64 { counts.reduce(0) { $0 &+ $1.changes } }

    private func noteSettled() {
        let changes = changes
        state.withLock { $0.settledChanges = changes }
    }

    /// True where no callback, and no task that one woke, is under way, and all requests have been handled.
    private var isSettled: Bool {
        var isSettled = true
        for device in state.withLock({ $0.devices }) {
            // A callback's requests were submitted to the queue before the callback counted as made. So if no callback
            // was under way before the queue had done its work, and none is after it, nothing is left to be done.
            let hadNone = device.center.hasNoCallbacksUnderWay
            device.center.queue.sync {}
            let answered = device.settleRadio()
            if !hadNone || answered || !device.center.hasNoCallbacksUnderWay { isSettled = false }
        }
        return isSettled
    }

    // MARK: - Patience

    /// How long a task may run: a test that waits for ever says nothing.
    private static let patience = Duration.seconds(20)

    private var patienceEnd: ContinuousClock.Instant {
        .now + (state.withLock { $0.isImpatient } ? .milliseconds(20) : Self.patience)
    }

    /// Returns false, and says so once, where a task has not come to rest in time.
    private func isPatient(until end: ContinuousClock.Instant) -> Bool {
        guard ContinuousClock.now > end else { return true }
        let isFirst = state.withLock { state in
            defer { state.isImpatient = true }
            return !state.isImpatient
        }
        if isFirst {
            FileHandle.standardError.write(
                Data(
                    """
                    SimulatedAir: a callback, or a task that a callback woke, has run for \(Self.patience) without \
                    waiting for anything. Time advances without it. If the task polls, let it wait for an event \
                    instead.

                    """.utf8))
        }
        return false
    }
}
