import BeaconModel
import CLibrary
import CPoll

/// The clocks and the wait of a loop. A test replaces them by virtual time.
struct LoopClock {
    /// Returns the time.
    var now: () -> Timestamp

    /// Returns how many nanoseconds the wall clock is ahead of the time.
    var wallAhead: () -> Int64

    /// Returns how long the machine has slept since it started, in nanoseconds.
    var asleep: () -> Int64

    /// Waits for descriptors, at most so many nanoseconds.
    var wait: (inout [pollfd], Int64) -> Void

    /// The system's.
    static var system: LoopClock {
        LoopClock(
            now: RadioClock.now, wallAhead: RadioClock.wallAhead, asleep: RadioClock.asleep,
            wait: { descriptors, nanoseconds in beacon_wait(&descriptors, UInt32(descriptors.count), nanoseconds) })
    }
}
