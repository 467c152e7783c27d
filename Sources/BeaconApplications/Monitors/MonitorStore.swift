package import BeaconSupport
import Foundation

/// A store of an application's monitors, each under its name, which all processes of the application share.
///
/// Its calls are synchronous, may wait for the disk and for other processes, and may come from any thread or queue.
package protocol MonitorStore: Sendable {
    /// Returns the conditions of a monitor as they are stored; none at first.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    func load(_ name: String) throws(StateError) -> [StoredCondition]

    /// Reads the stored conditions of a monitor, changes them and writes them, while no other process does.
    ///
    /// - Parameters:
    ///   - name: the monitor.
    ///   - change: changes the conditions that are stored now, which need not be those that this process knows. It may
    ///     be called more than once, and must not use the store.
    /// - Throws: ``StateError`` if they cannot be read or written.
    func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) throws(StateError)
}

extension MonitorStore {
    /// Stores the changes from one list of conditions to another, and nothing else: conditions that other processes
    /// have added or changed stay as they are.
    ///
    /// - Parameters:
    ///   - conditions: the conditions as they are for this process.
    ///   - old: the conditions that this process loaded, or saved last.
    ///   - name: the monitor.
    /// - Throws: ``StateError`` if they cannot be read or written.
    package func save(
        _ conditions: [StoredCondition], replacing old: [StoredCondition], as name: String
    ) throws(StateError) {
        try update(name) { $0.merge(conditions, replacing: old) { $0.identifier } }
    }
}

/// Monitors in files of their application, one for each.
package final class FileMonitorStore: MonitorStore {
    private struct Content: Codable, Hashable {
        var conditions: [StoredCondition] = []
    }

    private let application: ApplicationIdentity
    private let directory: StateDirectory
    private let files = Locked<[String: StateFile<Content>]>([:])

    /// The monitors of an application.
    package init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.application = application
        self.directory = directory
    }

    /// The names of the monitors that are stored, in alphabetical order.
    package var names: [String] {
        StateDirectory.names(in: directory.folder(of: application).appendingPathComponent(Self.folder))
            .filter { $0.hasSuffix(".json") }
            .compactMap { String($0.dropLast(".json".count)).removingPercentEncoding }.sorted()
    }

    package func load(_ name: String) throws(StateError) -> [StoredCondition] { try file(of: name).load().conditions }

    package func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) throws(StateError) {
        try file(of: name).update { change(&$0.conditions) }
    }

    /// The folder of their files, within that of the application.
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

    /// Returns a name that can be a file's, another one for each monitor: a percent sign and the byte stand for what is
    /// no letter or digit of ASCII.
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

/// Monitors that last as long as this object: for tests, and for programs that are to leave no trace.
package final class MemoryMonitorStore: MonitorStore {
    private let monitors = Locked<[String: [StoredCondition]]>([:])

    /// A store without monitors.
    package init() {}

    package func load(_ name: String) -> [StoredCondition] { monitors.withLock { $0[name] ?? [] } }

    package func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) {
        monitors.withLock { change(&$0[name, default: []]) }
    }
}
