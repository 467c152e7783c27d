package import BeaconEventStore
import BeaconSupport
public import Foundation

/// A backup: the event store with its state and history, and the configuration, in one file. Events that wait for
/// destinations are left out, since they would be delivered twice.
public enum Backup {
    /// The reason why a backup cannot be restored.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The problem and its remedy.
        public var description: String
    }

    /// The prefix of temporary files beside the store.
    private static let temporaryName = "beacond-backup-"
    private static let key = "file"

    /// Returns the path of a temporary file.
    package static func temporaryFile(in folder: URL) -> URL {
        folder.appendingPathComponent("\(temporaryName)\(UUID())")
    }

    /// Removes the temporary files of a process that was killed during a backup.
    package static func sweep(besideStore path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(temporaryName) {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    /// Writes a backup of a running gateway.
    ///
    /// - Parameters:
    ///   - file: the file to create.
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

    /// The result of restoring a backup.
    public struct Restored: Sendable {
        /// The path of the configuration; nil if the backup has none.
        public var configuration: String?
        /// The new path of the previous event store; nil if there was no such file.
        public var setAside: String?
    }

    /// Restores a backup while beacond does not run.
    ///
    /// - Parameters:
    ///   - file: the backup.
    ///   - path: the path of the event store.
    ///   - configuration: the path of the configuration. An existing one stays, and the backup's is written beside it.
    /// - Throws: ``Failure`` if the file is not a backup, or beacond runs.
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
            case .inUse: throw Failure(description: "beacond is running and uses \(path); stop it first")
            case .damaged:
                throw Failure(description: "\(file.path) is damaged or incomplete: \(error.message)")
            case .notOurs: throw Failure(description: "\(file.path) is not a backup of beacond")
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
