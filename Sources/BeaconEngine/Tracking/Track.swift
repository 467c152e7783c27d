import BeaconModel

/// What the engine keeps of one beacon as one receiver hears it from one address: the unit of ranging.
struct Track: BitwiseCopyable {
    static let unlisted: UInt32 = .max

    var key: TrackKey

    /// When it was last heard, in nanoseconds.
    var lastHeard: Int64

    /// Which regions and ranging requests it matches, and the version of these that the answer is for.
    var matches: MatchSetID
    var matchVersion: UInt32

    var interval = IntervalLearner()

    /// The adverts since the last report.
    var digest = SampleDigest()

    var filter = SignalFilterState()

    /// Its place in the list of beacons that are reported; ``unlisted`` where it is not.
    var listPosition: UInt32 = Track.unlisted

    /// The power that the newest advert gave for one metre, in dBm.
    var measuredPower: Int8

    /// The mean of the newest second with readings, in dBm.
    var reportedRSSI: Int8 = 0

    /// Nearness as last known, on which hysteresis builds.
    var proximity = Proximity.unknown

    var isListed: Bool { listPosition != Self.unlisted }

    /// Forgets how strongly the beacon was heard: it has been away, and may be anywhere when it returns.
    mutating func forgetSignal() {
        filter = SignalFilterState()
        proximity = .unknown
        reportedRSSI = 0
    }
}
