/// A choice of events by their attributes. It is data, so that the file keeps it: what waits for a consumer is known
/// also to a process that does not handle it.
public struct EventFilter: Hashable, Sendable, Codable {
    /// The kinds; nil for all.
    public var kinds: Set<String>?
    /// The regions; nil for all, and for events without one.
    public var regions: Set<String>?
    /// The kinds that are selected whatever their region.
    public var kindsOfAnyRegion: Set<String>

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - kinds: the kinds; nil for all.
    ///   - regions: the regions; nil for all, and for events without one.
    ///   - kindsOfAnyRegion: the kinds that are selected whatever their region.
    public init(kinds: Set<String>? = nil, regions: Set<String>? = nil, kindsOfAnyRegion: Set<String> = []) {
        (self.kinds, self.regions, self.kindsOfAnyRegion) = (kinds, regions, kindsOfAnyRegion)
    }

    /// Returns true for events of a kind and a region.
    public func selects(kind: String, region: String?) -> Bool {
        guard kinds?.contains(kind) ?? true else { return false }
        guard let regions, !kindsOfAnyRegion.contains(kind) else { return true }
        return region.map(regions.contains) ?? false
    }

    /// Returns the filter for those of these kinds alone.
    ///
    /// - Parameter others: the kinds; nil for all.
    public func narrowed(toKinds others: Set<String>?) -> EventFilter {
        var filter = self
        if let others { filter.kinds = kinds?.intersection(others) ?? others }
        return filter
    }
}
