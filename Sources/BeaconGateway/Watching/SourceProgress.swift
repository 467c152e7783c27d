import BeaconModel

/// How far a source has come since it was opened last.
struct SourceProgress: Hashable, Sendable {
    /// How many packets were read.
    var packets = 0
    /// How many iBeacons were heard.
    var iBeacons = 0
    /// The newest time.
    var time: Timestamp?
    /// How far the clock on the wall is ahead of the source's time, in nanoseconds, as a radio tells. Zero for files and
    /// simulations, whose time is what they say.
    var wallAhead: Int64 = 0
}
