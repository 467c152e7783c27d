/// Whether a beacon of a region is there.
@frozen
public enum RegionState: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// Not known yet, or no longer.
    case unknown = 0
    /// At least one is.
    case inside = 1
    /// None is.
    case outside = 2
}
