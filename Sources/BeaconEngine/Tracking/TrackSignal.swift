/// What the engine keeps of a track for ranging only.
struct TrackSignal: BitwiseCopyable {
    static let unlisted: UInt32 = .max

    /// The adverts since the last report.
    var digest = SampleDigest()

    /// Its place in the list of beacons that are reported; ``unlisted`` where it is not.
    var listPosition: UInt32 = TrackSignal.unlisted

    var filter = SignalFilterState()

    /// The mean of the newest second with readings, in dBm.
    var reportedRSSI: Int8 = 0

    /// Nearness as last known, on which hysteresis builds.
    var proximity = Proximity.unknown

    var isListed: Bool { listPosition != Self.unlisted }

    /// Forgets how strongly the beacon was heard: it has been away, and may be anywhere when it returns.
    mutating func forget() {
        filter = SignalFilterState()
        proximity = .unknown
        reportedRSSI = 0
    }
}
