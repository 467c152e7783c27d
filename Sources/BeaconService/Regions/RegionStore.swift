/// Where an application's regions are kept across launches.
public protocol RegionStore: Sendable {
    /// The regions as they were last written; none at first.
    ///
    /// - Throws: ``ServiceError`` if they cannot be read.
    func load() throws(ServiceError) -> [RegisteredRegion]

    /// Replaces what was written.
    ///
    /// - Throws: ``ServiceError`` if it cannot be written.
    func save(_ regions: [RegisteredRegion]) throws(ServiceError)
}
