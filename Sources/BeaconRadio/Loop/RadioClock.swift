package import BeaconModel
import CLibrary

/// The time of the real radios of a process: even, and counted from 1970 by what the wall clock said when the
/// process first asked.
///
/// It runs on while the machine sleeps and does not follow when the wall clock is set, so that setting it cannot make a
/// beacon leave.
package enum RadioClock {
    /// The nanoseconds by which the wall clock was ahead of the time since the machine started, when first asked.
    private static let origin = wallSinceStart()

    /// Returns the time.
    package static func now() -> Timestamp { Timestamp(nanoseconds: origin + nanoseconds(of: CLOCK_BOOTTIME)) }

    /// Returns a time as the nanoseconds since the machine was started, which all processes count alike.
    package static func sinceStart(_ time: Timestamp) -> Int64 { time.nanoseconds - origin }

    /// Returns the time that is so many nanoseconds after the machine was started.
    package static func time(sinceStart nanoseconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: origin + nanoseconds)
    }

    /// Returns how many nanoseconds the wall clock is ahead of this one.
    package static func wallAhead() -> Int64 { wallSinceStart() - origin }

    /// Returns when the wall clock showed this, in nanoseconds since 1970.
    ///
    /// - Parameter ahead: how far that clock is ahead, as ``wallAhead()`` returned it not long ago.
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
