/// What the engine keeps of a track from one ranging report to the next.
struct TrackLevel: BitwiseCopyable {
    var filter = SignalFilterState()

    /// The mean of the newest second with readings, in dBm.
    var reportedRSSI: Int8 = 0

    /// Nearness as last known, on which hysteresis builds.
    var proximity = Proximity.unknown
}
