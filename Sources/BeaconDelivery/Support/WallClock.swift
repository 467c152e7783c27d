public import BeaconModel
import Glibc

/// The time of day.
public enum WallClock {
    /// Now, since 1970, as the system has it.
    @Sendable
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(time.tv_nsec))
    }
}
