import BeaconModel
import CLibrary
import CPoll

/// The clocks and the wait of a loop. Tests replace them with virtual time.
struct LoopClock {
    /// Returns the current time.
    var now: () -> Timestamp

    /// Returns how many nanoseconds the wall clock is ahead of the time.
    var wallAhead: () -> Int64

    /// Returns how long the machine has slept since it started, in nanoseconds.
    var asleep: () -> Int64

    /// Waits for descriptors, for at most this many nanoseconds.
    var wait: (inout [pollfd], Int64) -> Void

    /// The system's clocks.
    static var system: LoopClock {
        LoopClock(
            now: RadioClock.now, wallAhead: RadioClock.wallAhead, asleep: RadioClock.asleep,
            wait: { descriptors, nanoseconds in beacon_wait(&descriptors, UInt32(descriptors.count), nanoseconds) })
    }
}
