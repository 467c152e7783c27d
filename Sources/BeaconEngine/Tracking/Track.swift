import BeaconModel

/// What the engine keeps of one beacon as one receiver hears it from one address, as far as every advert needs it: a
/// cache line. What ranging needs beside it is in its
/// ``TrackSignal`` and ``TrackLevel``.
struct Track: BitwiseCopyable {
    var key: TrackKey

    /// When it was last heard, in nanoseconds.
    var lastHeard: Int64

    /// Which regions and ranging requests it matches, and the version of these that the answer is for.
    var matches: MatchSetID
    var matchVersion: UInt32

    var interval = IntervalLearner()

    /// The power that the newest advert gave for one metre, in dBm.
    var measuredPower: Int8
}
