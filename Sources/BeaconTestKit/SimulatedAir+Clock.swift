internal import BeaconSupport
internal import CProcessClock
internal import Dispatch
internal import Foundation

extension SimulatedAir {
    /// A Boolean value indicating whether the clock of the whole process follows the air's time.
    ///
    /// Then it moves only in `advance(by:)`. `Date()`, `ContinuousClock`, `SuspendingClock` and the clocks of C agree
    /// with ``now``. These end in the order of their deadlines, together with the callbacks:
    ///
    /// - `Task.sleep`, `DispatchQueue.asyncAfter`, timers of `DispatchSource`, operators of Combine such as `debounce`,
    /// - `Timer`, and `RunLoop.run(until:)`. In Swift Testing, where the main thread has no run loop, the air runs the
    ///   timers of code on the main queue,
    /// - `Thread.sleep`, and waits with a time-out for a semaphore, an `NSCondition` or an `NSLock`.
    ///
    /// The time passes once all threads of the process sleep, so closures on any dispatch queue have run. All of this
    /// holds for the test itself, too: a test that sleeps waits forever, unless something else advances the time. Put
    /// such tests into one suite with the trait `.serialized`, and let no other tests run beside it.
    ///
    /// Not covered are `usleep` and `sleep` of C, waits with a time-out for a `DispatchGroup`, files, network and child
    /// processes: they take real time, which the air does not wait for.
    ///
    /// It is false if another library defines the same functions of C, which is reported on standard error.
    public var controlsTime: Bool { clock != nil }

    /// Stops the process's clock, as for a suspended app: only the air's time passes from now on.
    package func suspendClock() { clock?.isSuspended = true }

    /// Lets the process's clock follow again, from the air's time on. What became due in between is due now.
    package func resumeClock() {
        guard let clock, clock.isSuspended else { return }
        clock.isSuspended = false
        _ = clock.move(to: state.withLock { $0.now })
    }

    /// A Boolean value indicating whether the process's clock stands still while the air's time passes.
    package var isClockSuspended: Bool { clock?.isSuspended ?? false }

    /// Lets the process's clock stand still while the app of a device does not run.
    func followPauses(of device: SimulatedDevice) {
        guard controlsTime else { return }
        device.application.onPause = { [weak self] isPaused in
            if isPaused { self?.suspendClock() } else { self?.resumeClock() }
        }
    }

    // MARK: - Advancing

    /// How far the process's clock may be ahead at the end of `advance(by:)`, in nanoseconds. Foundation's timers are
    /// due up to 0.2 µs late, since their dates are rounded.
    private static let tolerance: Int64 = 10_000

    /// How long the process may be idle while work is under way, so that the work must wait for something outside of
    /// the process, or for the time.
    private static let patience = Duration.milliseconds(20)

    /// A queue with its own thread, which looks at the others.
    private static let queue = DispatchQueue(label: "swift-beacon.clock")

    /// Advances the air and the process's clock together.
    func advanceProcess(by duration: Duration) {
        waitForIdleProcess()
        let end = end(of: duration)
        while let step = nextStep(until: end) {
            // The process's own deadlines come before adverts of the same time.
            if clock?.move(to: step.time) ?? false { waitForIdleProcess() }
            perform(step)
            if !isUnchanged { waitForIdleProcess() }
        }
        while let deadline = clock?.nextDeadline, deadline <= end + Self.tolerance {
            _ = clock?.move(to: deadline)
            waitForIdleProcess()
        }
    }

    /// Calls `body` on the queue.
    ///
    /// The queue has let go of the air when the caller goes on, so that the air ends with its test.
    func onClockQueue(_ body: @escaping @Sendable (SimulatedAir) -> Void) async {
        WokenTasks.noteTest(begun)
        await withCheckedContinuation { continuation in
            Self.queue.async { [weak self] in
                if let self { body(self) }
                continuation.resume()
            }
        }
    }

    /// Calls `body` on the queue, and runs the main run loop until it returns.
    func onClockQueueWithRunLoop(_ body: @escaping @Sendable (SimulatedAir) -> Void) {
        // A test that is a job of the main queue, which another thread runs. It keeps the queue, so the air waits in
        // vain for callbacks, and reports that.
        guard Thread.isMainThread else { return body(self) }
        let isDone = Locked(false)
        Self.queue.async { [weak self] in
            if let self { body(self) }
            DispatchQueue.main.async { isDone.withLock { $0 = true } }
        }
        while !isDone.withLock({ $0 }) { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    }

    /// Waits until the process is idle and all requests and callbacks have been handled, and all apps are suspended,
    /// launched or ended that are due to be. On the queue.
    func waitForIdleProcess() {
        let end = waitEnd
        repeat {
            waitForIdleThreads(until: end)
            for device in devices where device.carryOutDueWork() {
                MainQueueTasks.perform { device.performMainWork() }
            }
        } while hasDueWork && hasTime(until: end)
    }

    private func waitForIdleThreads(until end: Duration) {
        var idleSince: Duration?
        repeat {
            if beacon_main_loop_is_used() { Self.runMainLoop() }
            var looks = 0
            while !beacon_process_is_idle() {
                guard hasTime(until: end) else { return }
                looks += 1
                if looks < 100 { sched_yield() } else { usleep(100) }
            }
            if isSettled { return noteSettled() }
            // Work that waits for a time-out ends when time passes.
            let now = KernelTime.now
            if now - (idleSince ?? now) > Self.patience, beacon_clock_has_waiting_threads() { return }
            idleSince = idleSince ?? now
        } while hasTime(until: end)
    }

    /// Runs the main run loop on the main queue, where the main thread does not. The timers of code on that queue are
    /// there.
    private static func runMainLoop() {
        DispatchQueue.main.async {
            guard !Thread.isMainThread else { return }
            _ = RunLoop.main.run(mode: .default, before: .distantPast)
        }
    }
}
