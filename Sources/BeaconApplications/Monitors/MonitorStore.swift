package import BeaconSupport
import Foundation

/// A store of an application's named monitors, which all processes of the application share.
///
/// All calls are synchronous and may wait for the disk and other processes. They may come from any thread or queue.
package protocol MonitorStore: Sendable {
    /// Returns the stored conditions of a monitor; empty for a new monitor.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    func load(_ name: String) throws(StateError) -> [StoredCondition]

    /// Reads, changes and writes the stored conditions of a monitor under a lock.
    ///
    /// - Parameters:
    ///   - name: the monitor.
    ///   - change: changes the stored conditions, which may differ from those that this process knows. It may be called
    ///     more than once, and must not use the store.
    /// - Throws: ``StateError`` if they cannot be read or written.
    func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) throws(StateError)
}

extension MonitorStore {
    /// Stores only the changes from one list of conditions to another. Conditions that other processes have added or
    /// changed stay as they are.
    ///
    /// - Parameters:
    ///   - conditions: this process's present conditions.
    ///   - old: the conditions that this process last loaded or saved.
    ///   - name: the monitor.
    /// - Throws: ``StateError`` if they cannot be read or written.
    package func save(
        _ conditions: [StoredCondition], replacing old: [StoredCondition], as name: String
    ) throws(StateError) {
        try update(name) { $0.merge(conditions, replacing: old) { $0.identifier } }
    }
}

/// A monitor store with one file per monitor.
package final class FileMonitorStore: MonitorStore {
    private struct Content: Codable, Hashable {
        var conditions: [StoredCondition] = []
    }

    private let application: ApplicationIdentity
    private let directory: StateDirectory
    private let files = Locked<[String: StateFile<Content>]>([:])

    /// Creates the monitor store of an application.
    package init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.application = application
        self.directory = directory
    }

    /// The names of the stored monitors, in alphabetical order.
    package var names: [String] {
        StateDirectory.names(in: directory.folder(of: application).appendingPathComponent(Self.folder))
            .filter { $0.hasSuffix(".json") }
            .compactMap { String($0.dropLast(".json".count)).removingPercentEncoding }.sorted()
    }

    package func load(_ name: String) throws(StateError) -> [StoredCondition] { try file(of: name).load().conditions }

    package func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) throws(StateError) {
        try file(of: name).update { change(&$0.conditions) }
    }

    /// The folder of the files, within the application's folder.
    static let folder = "monitors"

    private func file(of name: String) -> StateFile<Content> {
        let url = directory.file("\(Self.folder)/\(Self.fileName(name))", of: application)
        return files.withLock { [application, directory] files in
            if let file = files[name] { return file }
            let file = StateFile(url, empty: Content(), of: application, in: directory)
            files[name] = file
            return file
        }
    }

    /// Returns a unique file name for a monitor. Every byte that is not an ASCII letter or digit becomes a percent sign
    /// and the byte in hexadecimal.
    private static func fileName(_ name: String) -> String {
        var result = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default:
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

/// A monitor store in memory, for tests and for programs that must not leave files.
package final class MemoryMonitorStore: MonitorStore {
    private let monitors = Locked<[String: [StoredCondition]]>([:])

    /// Creates an empty store.
    package init() {}

    /// The names of the stored monitors, in alphabetical order.
    package var names: [String] { monitors.withLock { $0.filter { !$0.value.isEmpty }.keys.sorted() } }

    package func load(_ name: String) -> [StoredCondition] { monitors.withLock { $0[name] ?? [] } }

    package func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) {
        monitors.withLock { change(&$0[name, default: []]) }
    }
}
