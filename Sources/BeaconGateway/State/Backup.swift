package import BeaconEventStore
import BeaconSupport
public import Foundation

/// A backup: the event store with its state and history, and the configuration, in one file. What waits for
/// destinations is not in it, since it would be delivered twice.
public enum Backup {
    /// Why a backup cannot be put back.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong, and what to do.
        public var description: String
    }

    /// The beginning of the names of files that lie beside the store for as long as a backup is made.
    private static let temporaryName = "beacond-backup-"
    private static let key = "file"

    /// Returns the path of a file for a moment.
    package static func temporaryFile(in folder: URL) -> URL {
        folder.appendingPathComponent("\(temporaryName)\(UUID())")
    }

    /// Removes what a process left that was killed while it made a backup.
    package static func sweep(besideStore path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(temporaryName) {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    /// Writes a backup of what runs.
    ///
    /// - Parameters:
    ///   - file: the file to make.
    ///   - configuration: the path of the configuration; nil for none.
    ///   - store: the event store.
    package static func write(to file: URL, configuration: String?, store: EventStore) async throws {
        var text: [StateChange] = []
        if let configuration {
            text = [
                StateChange(
                    namespace: GatewayState.Namespace.configuration, key: key,
                    value: try Data(contentsOf: URL(fileURLWithPath: configuration)))
            ]
        }
        try await store.backUp(to: file, adding: text, hasNamespace: GatewayState.Namespace.isPortable)
    }

    /// What was put back.
    public struct Restored: Sendable {
        /// Where the configuration lies; nil where the backup has none.
        public var configuration: String?
        /// The new path of the file of before; nil without such a file.
        public var setAside: String?
    }

    /// Puts a backup back, while beacond does not run.
    ///
    /// - Parameters:
    ///   - file: the backup.
    ///   - path: the path of the event store.
    ///   - configuration: the path of the configuration. One that is there stays, and that of the backup lies beside
    ///     it.
    /// - Throws: ``Failure`` where it is none, or beacond runs.
    public static func restore(from file: URL, to path: String, configuration: String) throws -> Restored {
        var restored = Restored()
        let text: Data?
        do throws(EventStoreError) {
            text = try EventStore.value(of: file, GatewayState.Namespace.configuration, key)
            restored.setAside = try EventStore.restore(
                from: file, to: URL(fileURLWithPath: path), hasNamespace: GatewayState.Namespace.isPortable
            ).setAside?.path
        } catch {
            switch error.code {
            case .inUse: throw Failure(description: "beacond runs, and uses \(path); stop it first")
            case .damaged:
                throw Failure(description: "\(file.path) is damaged, or not all of it is there: \(error.message)")
            case .notOurs: throw Failure(description: "\(file.path) is no backup of beacond's")
            default: throw Failure(description: error.message)
            }
        }
        if let text {
            var target = configuration
            if let there = FileManager.default.contents(atPath: target), there != text { target += ".restored" }
            try AtomicFile.replace(target, with: text, access: .configuration)
            restored.configuration = target
        }
        return restored
    }
}
