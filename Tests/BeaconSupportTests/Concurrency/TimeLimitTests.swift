import BeaconSupport
import Testing

/// Tests of operations and waits with a time limit, by a clock that stands still until a test ends its sleep.
struct TimeLimitTests {
    /// A clock whose sleeps end with its signal or with their task.
    private struct StandingClock: Clock {
        let alarm = AsyncSignal()
        let began = AsyncSignal()
        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            began.signal()
            await alarm.wait(after: 0)
            try Task.checkCancellation()
        }
    }

    @Test("An operation that ends in time returns its result, and its limit is cancelled")
    func inTime() async {
        #expect(await within(.seconds(1), by: StandingClock()) { 5 } == 5)
    }

    @Test("An operation that takes too long is cancelled and returns no result")
    func tooLong() async {
        let clock = StandingClock()
        let never = AsyncSignal()
        let ended = Locked(false)
        clock.alarm.signal()
        let result = await within(.seconds(1), by: clock) {
            await never.wait(after: 0)
            ended.withLock { $0 = Task.isCancelled }
            return 5
        }
        #expect(result == nil)
        #expect(ended.withLock { $0 })
    }

    @Test("A wait ends with its signal, its time or its task", arguments: ["signal", "time", "task"])
    func wait(cause: String) async {
        let clock = StandingClock()
        let signal = AsyncSignal()
        let waiting = Task { await signal.wait(after: 0, atMost: .seconds(1), by: clock) }
        await clock.began.wait(after: 0)
        switch cause {
        case "signal": signal.signal()
        case "time": clock.alarm.signal()
        default: waiting.cancel()
        }
        await waiting.value
        #expect(signal.count == (cause == "signal" ? 1 : 0))
    }

    @Test("A signal that was sent before the wait ends it")
    func sentBefore() async {
        let signal = AsyncSignal()
        signal.signal()
        await signal.wait(after: 0, atMost: .seconds(1), by: StandingClock())
        #expect(signal.count == 1)
    }
}
