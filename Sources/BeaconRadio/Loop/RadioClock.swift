package import BeaconModel
import CLibrary

/// The steady time of a process's real radios. It counts from 1970 by the wall clock as of its first use.
///
/// It continues while the machine sleeps and ignores changes of the wall clock, so that setting the clock cannot make a
/// beacon leave.
package enum RadioClock {
    /// The nanoseconds by which the wall clock was ahead of the time since the machine started, on first use.
    private static let origin = wallSinceStart()

    /// Returns the current time.
    package static func now() -> Timestamp { Timestamp(nanoseconds: origin + nanoseconds(of: CLOCK_BOOTTIME)) }

    /// Returns a time as nanoseconds since the machine started, a count that all processes share.
    package static func sinceStart(_ time: Timestamp) -> Int64 { time.nanoseconds - origin }

    /// Returns the time that is this many nanoseconds after the machine started.
    package static func time(sinceStart nanoseconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: origin + nanoseconds)
    }

    /// Returns how many nanoseconds the wall clock is ahead of this one.
    package static func wallAhead() -> Int64 { wallSinceStart() - origin }

    /// Converts a time of the wall clock, in nanoseconds since 1970.
    ///
    /// - Parameter ahead: the offset of the wall clock from a recent call of ``wallAhead()``.
    package static func time(ofWall nanoseconds: Int64, ahead: Int64) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds - ahead)
    }

    /// Returns how long the machine has slept since it started, in nanoseconds.
    package static func asleep() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) - nanoseconds(of: CLOCK_MONOTONIC) }

    private static func wallSinceStart() -> Int64 { nanoseconds(of: CLOCK_REALTIME) - nanoseconds(of: CLOCK_BOOTTIME) }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(time.tv_nsec)
    }
}
