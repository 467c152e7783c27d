/// What the engine has to say.
public enum EngineEvent: Hashable, Sendable {
    /// A region was entered, from outside or from a state that was unknown: a beacon of it is there.
    case entered(RegionChange)

    /// A region was left: none of its beacons was heard for long enough.
    case exited(RegionChange)

    /// A region's state became known without anyone coming or going: it is outside.
    case determined(RegionChange)

    /// The report of one second.
    case ranged(RangingReport)
}
