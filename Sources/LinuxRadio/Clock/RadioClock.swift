import BeaconModel
import Glibc

/// The time of the real radios of a process: even, and counted from 1970 by what the clock on the wall said when the
/// process first asked.
///
/// It runs on while the machine sleeps and does not follow when somebody sets the clock on the wall, so that setting it
/// cannot make a beacon leave.
enum RadioClock {
    /// How far the clock on the wall was ahead of the time since the machine started, in nanoseconds, when first asked.
    private static let origin = wallSinceStart()

    /// The time.
    static func now() -> Timestamp { Timestamp(nanoseconds: origin + nanoseconds(of: CLOCK_BOOTTIME)) }

    /// How many nanoseconds the clock on the wall is ahead of this one.
    static func wallAhead() -> Int64 { wallSinceStart() - origin }

    /// When the clock on the wall showed this, in nanoseconds since 1970.
    ///
    /// - Parameter ahead: how far that clock is ahead, as ``wallAhead()`` told it not long ago.
    static func time(ofWall nanoseconds: Int64, ahead: Int64) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds - ahead)
    }

    /// How long the machine has slept since it started, in nanoseconds.
    static func asleep() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) - nanoseconds(of: CLOCK_MONOTONIC) }

    private static func wallSinceStart() -> Int64 { nanoseconds(of: CLOCK_REALTIME) - nanoseconds(of: CLOCK_BOOTTIME) }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(time.tv_nsec)
    }
}
