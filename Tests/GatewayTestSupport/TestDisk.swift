package import BeaconEventStore
import BeaconModel
import BeaconSupport
import Dispatch

/// A disk whose writes fail or wait on request, with clocks that only the test advances.
package final class TestDisk: Sendable {
    private struct State {
        var error: EventStoreError?
        var isStuck = false
        var isWaiting = false
        /// The nanoseconds since boot.
        var time: Int64 = 5_000_000_000
    }

    private let state = Locked(State())
    private let end = DispatchSemaphore(value: 0)
    private let tick = AsyncSignal()

    package init() {}

    /// Makes all writes fail, or succeed again with nil.
    package func fail(_ error: EventStoreError?) { state.withLock { $0.error = error } }

    /// Makes the next write wait for ``release()``.
    package func hang() { state.withLock { $0.isStuck = true } }

    /// True while a write waits.
    package var isWaiting: Bool { state.withLock { $0.isWaiting } }

    /// Continues the waiting write.
    package func release() {
        state.withLock { ($0.isStuck, $0.isWaiting) = (false, false) }
        end.signal()
    }

    /// Runs the test's action instead of a write.
    package func write() throws {
        let (error, isStuck) = state.withLock { state in
            state.isWaiting = state.isStuck
            return (state.error, state.isStuck)
        }
        if isStuck { end.wait() }
        if let error { throw error }
    }

    package func advance(by duration: Duration) {
        state.withLock { $0.time += Int64(duration / .nanoseconds(1)) }
        tick.signal()
    }

    /// The clocks. The wall clock is 1 800 000 000 at boot.
    package var clock: EventStoreClock {
        @Sendable func time() -> Int64 { state.withLock { $0.time } }
        return EventStoreClock(
            wall: { Timestamp(nanoseconds: 1_800_000_000_000_000_000 + time()) }, sinceBoot: { time() }, boot: "one",
            sleep: { duration in
                let end = time() + Int64(duration / .nanoseconds(1))
                while time() < end {
                    let seen = self.tick.count
                    if time() >= end { return }
                    await self.tick.wait(after: seen)
                    try Task.checkCancellation()
                }
            })
    }
}
