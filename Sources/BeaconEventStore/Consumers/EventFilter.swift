/// A selection of events by their attributes. It is stored in the file as data, so that every process knows which
/// events wait for a consumer, not only the process that handles them.
public struct EventFilter: Hashable, Sendable, Codable {
    /// The kinds; nil for all.
    public var kinds: Set<String>?
    /// The regions; nil for all regions and for events without one.
    public var regions: Set<String>?
    /// The kinds that are selected regardless of their region.
    public var kindsOfAnyRegion: Set<String>

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - kinds: the kinds; nil for all.
    ///   - regions: the regions; nil for all regions and for events without one.
    ///   - kindsOfAnyRegion: the kinds that are selected regardless of their region.
    public init(kinds: Set<String>? = nil, regions: Set<String>? = nil, kindsOfAnyRegion: Set<String> = []) {
        (self.kinds, self.regions, self.kindsOfAnyRegion) = (kinds, regions, kindsOfAnyRegion)
    }

    /// Returns whether events of a kind and a region are selected.
    public func selects(kind: String, region: String?) -> Bool {
        guard kinds?.contains(kind) ?? true else { return false }
        guard let regions, !kindsOfAnyRegion.contains(kind) else { return true }
        return region.map(regions.contains) ?? false
    }

    /// Returns this filter limited to the given kinds.
    ///
    /// - Parameter others: the kinds; nil for all.
    public func narrowed(toKinds others: Set<String>?) -> EventFilter {
        var filter = self
        if let others { filter.kinds = kinds?.intersection(others) ?? others }
        return filter
    }
}
