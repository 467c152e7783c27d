import Foundation

/// Regions in a file of their application's, which is replaced as a whole with each change.
public struct FileRegionStore: RegionStore {
    private let directory: StateDirectory
    private let file: URL

    private struct Content: Codable {
        var regions: [RegisteredRegion]
    }

    /// The regions of an application.
    public init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.directory = directory
        file = directory.file("regions", of: application)
    }

    /// The regions as they were last written; none at first.
    public func load() throws(ServiceError) -> [RegisteredRegion] {
        try directory.read(Content.self, from: file)?.regions ?? []
    }

    /// Replaces what was written.
    public func save(_ regions: [RegisteredRegion]) throws(ServiceError) {
        try directory.write(Content(regions: regions), to: file)
    }
}
