public import BeaconModel
import Glibc

/// The system's wall clock.
public enum WallClock {
    /// Returns the time since 1970.
    @Sendable
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(time.tv_nsec))
    }
}

extension Timestamp {
    /// Whole milliseconds since the origin.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Duration {
    /// Whole nanoseconds, at most a hundred years of them, so that adding a few cannot overflow.
    var clampedNanoseconds: Int64 {
        let limit: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        guard abs(seconds) < limit else { return (seconds < 0 ? -limit : limit) * 1_000_000_000 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
