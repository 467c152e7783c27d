package import BeaconSupport
import Foundation

/// A store of an application's regions, which all processes of the application share.
///
/// All calls are synchronous and may wait for the disk and other processes. They may come from any thread or queue.
package protocol RegionStore: Sendable {
    /// Returns the stored regions; empty for a new application.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    func load() throws(StateError) -> [RegisteredRegion]

    /// Reads, changes and writes the stored regions under a lock.
    ///
    /// - Parameter change: changes the stored regions, which may differ from those that this process knows. See
    ///   `Array.merge(_:replacing:by:)`. It may be called more than once, and must not use the store.
    /// - Throws: ``StateError`` if they cannot be read or written.
    func update(_ change: (inout [RegisteredRegion]) -> Void) throws(StateError)
}

extension RegionStore {
    /// Stores only the changes from one list of regions to another. Regions that other processes have added or changed
    /// stay as they are.
    ///
    /// - Parameters:
    ///   - regions: this process's present regions.
    ///   - old: the regions that this process last loaded or saved.
    /// - Throws: ``StateError`` if they cannot be read or written.
    package func save(_ regions: [RegisteredRegion], replacing old: [RegisteredRegion]) throws(StateError) {
        try update { $0.merge(regions, replacing: old) { $0.identifier } }
    }
}

/// A region store in a file of the application.
package final class FileRegionStore: RegionStore {
    private struct Content: Codable, Hashable {
        var regions: [RegisteredRegion] = []
    }

    private let file: StateFile<Content>

    /// Creates the region store of an application.
    package init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        file = StateFile(
            directory.file("regions", of: application), empty: Content(), of: application, in: directory)
    }

    package func load() throws(StateError) -> [RegisteredRegion] { try file.load().regions }

    package func update(_ change: (inout [RegisteredRegion]) -> Void) throws(StateError) {
        try file.update { change(&$0.regions) }
    }
}

/// A region store in memory, for tests and for programs that must not leave files.
package final class MemoryRegionStore: RegionStore {
    private let regions = Locked<[RegisteredRegion]>([])

    /// Creates an empty store.
    package init() {}

    package func load() -> [RegisteredRegion] { regions.withLock { $0 } }

    package func update(_ change: (inout [RegisteredRegion]) -> Void) { regions.withLock { change(&$0) } }
}
