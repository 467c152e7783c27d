package import BeaconSupport
import Foundation

/// A store of an application's regions, which all of its processes share.
///
/// Its calls are synchronous, may wait for the disk and for other processes, and may come from any thread or queue.
package protocol RegionStore: Sendable {
    /// Returns the regions as they are stored; none at first.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    func load() throws(StateError) -> [RegisteredRegion]

    /// Reads the stored regions, changes them and writes them, while no other process does.
    ///
    /// - Parameter change: changes the regions that are stored now, which need not be those that this process knows.
    ///   See `Array.merge(_:replacing:by:)`. It may be called more than once, and must not use the store.
    /// - Throws: ``StateError`` if they cannot be read or written.
    func update(_ change: (inout [RegisteredRegion]) -> Void) throws(StateError)
}

extension RegionStore {
    /// Stores the changes from one list of regions to another, and nothing else: regions that other processes have
    /// added or changed stay as they are.
    ///
    /// - Parameters:
    ///   - regions: the regions as they are for this process.
    ///   - old: the regions that this process loaded, or saved last.
    /// - Throws: ``StateError`` if they cannot be read or written.
    package func save(_ regions: [RegisteredRegion], replacing old: [RegisteredRegion]) throws(StateError) {
        try update { $0.merge(regions, replacing: old) { $0.identifier } }
    }
}

/// Regions in a file of their application.
package final class FileRegionStore: RegionStore {
    private struct Content: Codable, Hashable {
        var regions: [RegisteredRegion] = []
    }

    private let file: StateFile<Content>

    /// The regions of an application.
    package init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        file = StateFile(
            directory.file("regions", of: application), empty: Content(), of: application, in: directory)
    }

    package func load() throws(StateError) -> [RegisteredRegion] { try file.load().regions }

    package func update(_ change: (inout [RegisteredRegion]) -> Void) throws(StateError) {
        try file.update { change(&$0.regions) }
    }
}

/// Regions that last as long as this object: for tests, and for programs that are to leave no trace.
package final class MemoryRegionStore: RegionStore {
    private let regions = Locked<[RegisteredRegion]>([])

    /// A store without regions.
    package init() {}

    package func load() -> [RegisteredRegion] { regions.withLock { $0 } }

    package func update(_ change: (inout [RegisteredRegion]) -> Void) { regions.withLock { change(&$0) } }
}
