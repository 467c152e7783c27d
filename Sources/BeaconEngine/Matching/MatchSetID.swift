/// What a track matches: nothing, one region and nothing else, or a set of regions and ranging requests that some tracks
/// have in common.
///
/// One region is what most tracks match where each beacon has a region of its own, so it needs no look-up.
struct MatchSetID: Equatable, BitwiseCopyable {
    private let rawValue: Int32

    private static let regionMark: Int32 = 1 << 30

    private init(rawValue: Int32) { self.rawValue = rawValue }

    static let nothing = MatchSetID(rawValue: -1)

    /// One region, by its number.
    init(region: Int32) { rawValue = region | Self.regionMark }

    /// A set, by its place in ``ConstraintIndex/sets``.
    init(set: Int) { rawValue = Int32(set) }

    var isNothing: Bool { rawValue < 0 }

    /// The one region that is matched, or nil where it is something else.
    @inline(__always)
    var region: Int32? { rawValue >= Self.regionMark ? rawValue & ~Self.regionMark : nil }

    /// The place of the set; only where neither ``isNothing`` nor ``region`` holds.
    var set: Int { Int(rawValue) }
}
