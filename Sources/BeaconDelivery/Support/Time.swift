public import BeaconModel
import CLibrary

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
