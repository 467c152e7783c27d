import BeaconSupport
import BeaconTestKit
import CoreLocation
import Dispatch
import Testing

/// These tests control the clock of the whole process, so no others may run beside them.
@Suite("A simulated air controls the process's clock", .serialized)
struct ProcessClockTests {
    let air = SimulatedAir(controlsTime: true)
    let log = Log()

    @Test("All clocks stand still, and move by the same time")
    func clocks() async {
        #expect(air.controlsTime)
        let start = Date()
        let (continuous, suspending) = (ContinuousClock.now, SuspendingClock.now)
        let (uptime, wall, system) = (DispatchTime.now(), DispatchWallTime.now(), ProcessInfo.processInfo.systemUptime)
        usleep(2000)
        #expect(Date() == air.now && ContinuousClock.now == continuous && time(nil) == 1_700_000_000)
        await air.advance(by: .milliseconds(90_250))
        // The clock may be a few microseconds ahead of the air, if a timer is due then.
        let seconds = [
            Date().timeIntervalSince(start), air.now.timeIntervalSince(start),
            (ContinuousClock.now - continuous) / .seconds(1), (SuspendingClock.now - suspending) / .seconds(1),
            Double(DispatchTime.now().uptimeNanoseconds - uptime.uptimeNanoseconds) / 1e9,
            ProcessInfo.processInfo.systemUptime - system,
        ]
        #expect(seconds.allSatisfy { abs($0 - 90.25) < 0.000_020 }, "\(seconds)")
        #expect(time(nil) == 1_700_000_090 && DispatchWallTime.now() >= wall + .milliseconds(90_250))
    }

    @Test("Sleeping tasks wake in the order of their deadlines")
    func sleeps() async {
        Task { [log] in
            try? await Task.sleep(for: .seconds(2))
            log.note("for")
        }
        Task { [log] in
            try? await Task.sleep(nanoseconds: 3_000_000_000)
            log.note("nanoseconds")
        }
        Task { [log] in
            try? await Task.sleep(until: .now + .milliseconds(1500), clock: .continuous)
            log.note("continuous")
        }
        Task { [log] in
            try? await Task.sleep(until: .now + .seconds(1), tolerance: .seconds(9), clock: .suspending)
            log.note("suspending")
        }
        Task { @MainActor [log] in
            try? await Task.sleep(for: .milliseconds(2500))
            log.note("main actor")
        }
        let cancelled = Task { [log] in
            do { try await Task.sleep(for: .seconds(3600)) } catch { log.note("cancelled") }
        }
        await air.advance(by: .milliseconds(1100))
        cancelled.cancel()
        await air.advance(by: .seconds(10))
        #expect(
            log.entries == [
                "1.0 suspending", "1.1 cancelled", "1.5 continuous", "2.0 for", "2.5 main actor", "3.0 nanoseconds",
            ])
    }

    @Test("Closures and timers of dispatch queues run in the order of their deadlines")
    func dispatch() async {
        let queue = DispatchQueue(label: "timers")
        DispatchQueue.main.asyncAfter(deadline: .now() + 7) { [log] in log.note("main") }
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + 6) { [log] in log.note("wall") }
        queue.asyncAfter(deadline: .now() + 0.001) { [log] in log.note("queue") }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 1.5, repeating: 3, leeway: .seconds(1))
        timer.setEventHandler { [log] in log.note("timer") }
        timer.resume()
        await air.advance(by: .seconds(8))
        timer.cancel()
        await air.advance(by: .seconds(8))
        #expect(log.entries == ["0.0 queue", "1.5 timer", "4.5 timer", "6.0 wall", "7.0 main", "7.5 timer"])
    }

    @Test("Timers of code on the main queue fire, although the main thread runs no run loop")
    @MainActor
    func timers() async {
        let timer = startTimers()
        await air.advance(by: .seconds(1))
        timer.invalidate()
        await air.advance(by: .seconds(1))
        #expect(log.entries == ["0.5 timer", "0.7 once", "1.0 timer"])
    }

    /// The functions of timers must not be called in asynchronous ones.
    private func startTimers() -> Timer {
        Timer.scheduledTimer(withTimeInterval: 0.7, repeats: false) { [log] _ in log.note("once") }.tolerance = 0.1
        return Timer.scheduledTimer(withTimeInterval: 0.5, repeats: true) { [log] _ in log.note("timer") }
    }

    @Test("A run loop on the main queue runs until its date, and fires its timers")
    @MainActor
    func mainRunLoop() async {
        DispatchQueue.main.async { [log] in
            Timer.scheduledTimer(withTimeInterval: 2, repeats: false) { _ in log.note("timer") }.tolerance = 0
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 3))
            log.note("ended")
        }
        await air.advance(by: .seconds(5))
        #expect(log.entries == ["2.0 timer", "3.0 ended"])
    }

    @Test("A run loop of another thread runs until its date")
    func runLoop() async {
        Thread.detachNewThread { [log] in
            Timer.scheduledTimer(withTimeInterval: 2, repeats: false) { _ in log.note("timer") }.tolerance = 0
            let far = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            RunLoop.current.add(far, forMode: .default)
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 3))
            log.note("ended")
        }
        await air.advance(by: .seconds(5))
        #expect(log.entries == ["2.0 timer", "3.0 ended"])
    }

    @Test("Waits with a time-out end at it")
    func waits() async {
        let condition = NSCondition()
        let waits: [@Sendable () -> String] = [
            { "semaphore \(DispatchSemaphore(value: 0).wait(timeout: .now() + 1))" },
            { "wall \(DispatchSemaphore(value: 0).wait(wallTimeout: .now() + 1.5))" },
            {
                let lock = NSLock()
                lock.lock()
                return "lock \(lock.lock(before: Date(timeIntervalSinceNow: 2)))"
            },
            {
                condition.lock()
                defer { condition.unlock() }
                return "condition \(condition.wait(until: Date(timeIntervalSinceNow: 2.5)))"
            },
            {
                Thread.sleep(forTimeInterval: 3)
                return "thread"
            },
        ]
        for wait in waits { Thread.detachNewThread { [log] in log.note(wait()) } }
        await air.advance(by: .seconds(5))
        #expect(
            log.entries == [
                "1.0 semaphore timedOut", "1.5 wall timedOut", "2.0 lock false", "2.5 condition false", "3.0 thread",
            ])
    }

    @Test("Waits with a time-out end at once when they are granted")
    func grantedWaits() async {
        let (semaphore, condition) = (DispatchSemaphore(value: 0), NSCondition())
        Thread.detachNewThread { [log] in log.note("semaphore \(semaphore.wait(timeout: .now() + 9))") }
        Thread.detachNewThread { [log] in
            condition.lock()
            log.note("condition \(condition.wait(until: Date(timeIntervalSinceNow: 9)))")
            condition.unlock()
        }
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) { semaphore.signal() }
        DispatchQueue.main.asyncAfter(deadline: .now() + 2) {
            condition.lock()
            condition.signal()
            condition.unlock()
        }
        await air.advance(by: .seconds(20))
        #expect(log.entries == ["1.0 semaphore success", "2.0 condition true"])
    }

    @Test("A callback that blocks its thread with a time-out goes on when that time has passed")
    @MainActor
    func blockingCallback() async {
        let app = air.device.run { BlockingApp(log) }
        air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(1)))
        await air.advance(by: .seconds(4))
        #expect(log.entries.first == "3.5 waited")
        withExtendedLifetime(app) {}
    }

    @Test("A suspended app's clock stands still, and jumps when it goes on")
    func suspension() async {
        let start = Date()
        for seconds in [1, 2, 30, 600] {
            DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(seconds)) { [log] in log.note("\(seconds) s") }
        }
        await air.advance(by: .milliseconds(500))
        air.suspendClock()
        await air.advance(by: .seconds(300))
        #expect(log.entries.isEmpty && Date().timeIntervalSince(start) == 0.5 && air.isClockSuspended)
        air.resumeClock()
        #expect(Date() == air.now)
        await air.settle()
        #expect(log.entries == ["300.5 1 s", "300.5 2 s", "300.5 30 s"])
        await air.advance(by: .seconds(300))
        #expect(log.entries.last == "600.0 600 s")
    }

    @Test("After the air, the clocks run again, and what was waiting waits for the rest of its time")
    func release() async throws {
        var inner: SimulatedAir? = SimulatedAir(start: Date(timeIntervalSince1970: 2e9), controlsTime: true)
        let continuous = ContinuousClock.now
        #expect(Date().timeIntervalSince1970 == 2e9)
        let done = Locked(false)
        Task {
            try? await Task.sleep(for: .milliseconds(100_050))
            done.withLock { $0 = true }
        }
        await inner?.advance(by: .seconds(100))
        inner = nil
        #expect(Date().timeIntervalSince1970 != 2e9 + 100)
        #expect(ContinuousClock.now >= continuous + .seconds(100))
        while !done.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(ContinuousClock.now >= continuous + .milliseconds(100_050))
    }

    @Test("A timer that fires each second fires 3600 times in an hour")
    func hour() async {
        let timer = DispatchSource.makeTimerSource(queue: .main)
        let count = Locked(0)
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler { count.withLock { $0 += 1 } }
        timer.resume()
        await air.advance(by: .seconds(3600))
        timer.cancel()
        #expect(count.withLock { $0 } == 3600)
    }
}

/// An app that waits in its first callback.
private final class BlockingApp: BeaconApp, @unchecked Sendable {
    private var hasWaited = false

    override func start() { manager.startRangingBeacons(satisfying: constraint) }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard !hasWaited else { return }
        hasWaited = true
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 2.5)
        log.note("waited")
    }
}
