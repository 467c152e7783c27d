import BeaconEventStore
import BeaconModel
import BeaconSupport

/// A clock that a test advances.
final class VirtualClock: Clock {
    struct Instant: InstantProtocol {
        typealias Duration = Swift.Duration

        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var number: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var next = 0
        /// The total step of the wall clock.
        var wallStep = Swift.Duration.zero
        var sleepers: [Sleeper] = []
    }

    private let state = Locked(State())

    let minimumResolution = Swift.Duration.nanoseconds(1)
    var now: Instant { state.withLock { $0.now } }

    /// The corresponding wall clock. It begins at 1 700 000 000.
    var wallTime: Timestamp {
        let (seconds, attoseconds) = state.withLock { ($0.now.offset + $0.wallStep).components }
        return Timestamp(nanoseconds: (1_700_000_000 + seconds) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Returns the clocks of an event store for a boot that began with this clock.
    func storeClock() -> EventStoreClock {
        EventStoreClock(
            wall: { self.wallTime },
            sinceBoot: {
                let (seconds, attoseconds) = self.now.offset.components
                return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            }, boot: "one", sleep: { try await self.sleep(until: self.now.advanced(by: $0), tolerance: nil) })
    }

    /// Sets the wall clock, forward or back.
    func setWallClock(by step: Swift.Duration) { state.withLock { $0.wallStep += step } }

    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if deadline <= state.now || Task.isCancelled { return true }
                    state.sleepers.append(Sleeper(number: number, deadline: deadline, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    /// Advances to the first time that a task waits for.
    func advanceToNext() {
        guard let next = state.withLock({ $0.sleepers.map(\.deadline).min() }) else { return }
        advance(to: next)
    }

    func advance(by duration: Swift.Duration) { advance(to: now.advanced(by: duration)) }

    private func advance(to instant: Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
