/// What an identity matches: stretches of ``ConstraintIndex/regions`` and ``ConstraintIndex/rangings``.
struct MatchSet: BitwiseCopyable {
    var firstRegion: Int32
    var regionCount: Int32
    var firstRanging: Int32
    var rangingCount: Int32
}
