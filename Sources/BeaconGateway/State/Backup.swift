import BeaconEventStore
import BeaconSupport
public import Foundation
import GRDB
import Logging

/// A backup: the configuration, what was set in the console, installs and messages, the presence and the history, in
/// one file. What waits for destinations is not in it, since it would be delivered twice.
public enum Backup {
    /// Why a backup cannot be made or put back.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong, and what to do.
        public var description: String
    }

    /// The four characters SBBU, which identify the file (SQLite, PRAGMA application_id).
    private static let applicationID: Int32 = 0x5342_4255

    /// The beginning of the names of files that lie beside the outbox for as long as a backup is made or put back.
    private static let temporaryName = "beacond-backup-"

    /// Returns the path of a file for a moment.
    static func temporaryFile(in folder: URL) -> URL { folder.appendingPathComponent("\(temporaryName)\(UUID())") }

    /// Removes what a process left that was killed while it made a backup or put one back.
    static func sweep(besideOutbox path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(temporaryName) {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    /// The bytes of a piece of a file inside.
    private static let piece = 1 << 20

    private enum Part: String, CaseIterable {
        case configuration, state, events
    }

    // MARK: - Making one

    /// Writes a backup of what runs.
    ///
    /// - Parameters:
    ///   - file: the file to make.
    ///   - configuration: the path of the configuration; nil for none.
    ///   - state: the state.
    ///   - store: the event store.
    static func write(
        to file: URL, configuration: String?, state: GatewayState, store: EventStore
    ) async throws {
        let folder = file.deletingLastPathComponent()
        let parts = Dictionary(
            uniqueKeysWithValues: [Part.state, .events].map { ($0, temporaryFile(in: folder)) })
        defer { for part in parts.values { try? FileManager.default.removeItem(at: part) } }
        if let copy = parts[.state] {
            try await state.file.opened().vacuum(into: copy.path)
            // Who may use the console now is not for whoever puts it back.
            try await DatabaseQueue(path: copy.path).write {
                try $0.execute(sql: "DELETE FROM session; DELETE FROM code")
            }
        }
        if let copy = parts[.events] { try await store.backUp(to: copy) }
        let archive = try DatabaseQueue(path: file.path)
        try await archive.write { database in
            try database.execute(
                sql: """
                    PRAGMA application_id = \(applicationID);
                    CREATE TABLE piece (
                        part TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (part, number)
                    ) WITHOUT ROWID;
                    """)
            for (part, copy) in parts { try add(part, from: copy, to: database) }
            if let configuration { try add(.configuration, from: URL(fileURLWithPath: configuration), to: database) }
        }
        try archive.close()
    }

    private static func add(_ part: Part, from file: URL, to database: Database) throws {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var number = 0
        while let content = try handle.read(upToCount: piece), !content.isEmpty {
            try database.execute(
                sql: "INSERT INTO piece (part, number, content) VALUES (?, ?, ?)",
                arguments: [part.rawValue, number, content])
            number += 1
        }
    }

    // MARK: - Putting it back

    /// What was put back.
    public struct Restored: Sendable {
        /// Where the configuration lies; nil where the backup has none.
        public var configuration: String?
        /// The files that lie beside now: those of before.
        public var setAside: [String]
    }

    /// Puts a backup back, while beacond does not run.
    ///
    /// - Parameters:
    ///   - file: the backup.
    ///   - outbox: the path of the outbox beside which state and history are.
    ///   - configuration: the path of the configuration. One that is there stays, and that of the backup lies beside
    ///     it.
    /// - Throws: ``Failure`` where it is none, or beacond runs.
    public static func restore(
        from file: URL, besideOutbox outbox: String, configuration: String
    ) async throws -> Restored {
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw Failure(description: "cannot read \(file.path): there is no such file, or it is not for this user")
        }
        var reading = Configuration()
        reading.readonly = true
        let archive: DatabaseQueue
        do {
            archive = try DatabaseQueue(path: file.path, configuration: reading)
            let application = try await archive.read { try Int32.fetchOne($0, sql: "PRAGMA application_id") }
            guard application == applicationID else { throw Failure(description: "") }
        } catch {
            throw Failure(description: "\(file.path) is no backup of beacond's")
        }
        let target = GatewayState.file(besideOutbox: outbox)
        try checkIsFree(target)
        let folder = URL(fileURLWithPath: outbox).deletingLastPathComponent()
        // All of it is read and looked at before anything is touched.
        let (copy, events) = (temporaryFile(in: folder), temporaryFile(in: folder))
        defer { for file in [copy, events] { try? FileManager.default.removeItem(at: file) } }
        let text: Data?
        let (hasState, hasEvents): (Bool, Bool)
        do {
            try AtomicFile.makeFolder(folder.path)
            hasState = try copyState(from: archive, to: copy, like: target)
            let content = try content(of: .events, in: archive)
            if let content { try AtomicFile.replace(events.path, with: content) }
            hasEvents = content != nil
            text = try self.content(of: .configuration, in: archive)
        } catch let error as DatabaseError {
            throw Failure(
                description: "\(file.path) is damaged, or not all of it is there: \(error.message ?? "\(error)")")
        } catch let error as Failure {
            throw Failure(description: "\(file.path) is damaged, or not all of it is there: \(error)")
        }
        var restored = Restored(configuration: nil, setAside: [])
        if hasEvents { restored.setAside += try restoreStore(outbox, from: events, of: file) }
        if hasState {
            let mark = freeMark(beside: target)
            // What waits beside a file belongs to it, and would spoil another.
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: target.path + suffix) {
                let aside = target.appendingPathExtension(mark).path + suffix
                try FileManager.default.moveItem(atPath: target.path + suffix, toPath: aside)
                if suffix.isEmpty { restored.setAside.append(aside) }
            }
            try FileManager.default.moveItem(at: copy, to: target)
        }
        if let text {
            var path = configuration
            if let there = FileManager.default.contents(atPath: path), there != text { path += ".restored" }
            try AtomicFile.replace(path, with: text, access: .configuration)
            restored.configuration = path
        }
        return restored
    }

    /// Copies the state of a backup, row by row.
    ///
    /// - Returns: false where it has none.
    private static func copyState(from archive: DatabaseQueue, to copy: URL, like target: URL) throws -> Bool {
        guard let content = try content(of: .state, in: archive) else { return false }
        let given = temporaryFile(in: copy.deletingLastPathComponent())
        defer { try? FileManager.default.removeItem(at: given) }
        try AtomicFile.replace(given.path, with: content)
        try AtomicFile.replace(copy.path, with: Data(), like: target.path)
        try StateFile(copy, .state, logger: Logger(label: "beacond"))
            .copyRows(from: given, leavingOut: ["session", "code"])
        return true
    }

    /// Puts the events and the presence back.
    ///
    /// - Returns: the files that lie beside now.
    private static func restoreStore(_ path: String, from events: URL, of file: URL) throws -> [String] {
        do throws(EventStoreError) {
            let restored = try EventStore.restore(from: events, to: URL(fileURLWithPath: path))
            return restored.setAside.map { [$0.path] } ?? []
        } catch {
            guard error.code == .inUse else {
                throw Failure(description: "\(file.path) is damaged, or not all of it is there: \(error.message)")
            }
            throw Failure(description: "beacond runs, and uses \(path); stop it first")
        }
    }

    /// Returns the end of a name under which a file is set aside, and which no file has.
    private static func freeMark(beside file: URL) -> String {
        let mark = "before-restore-\(Int(Date().timeIntervalSince1970))"
        var (free, number) = (mark, 1)
        while FileManager.default.fileExists(atPath: file.appendingPathExtension(free).path) {
            number += 1
            free = "\(mark)-\(number)"
        }
        return free
    }

    private static func content(of part: Part, in archive: DatabaseQueue) throws -> Data? {
        let pieces = try archive.read { database in
            try Data.fetchAll(
                database, sql: "SELECT content FROM piece WHERE part = ? ORDER BY number", arguments: [part.rawValue])
        }
        return pieces.isEmpty ? nil : pieces.reduce(into: Data()) { $0.append($1) }
    }

    /// Brings a file into one piece, which SQLite does only where nobody else has it open.
    private static func checkIsFree(_ file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        var configuration = Configuration()
        configuration.busyMode = .timeout(1)
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw Failure(description: "beacond runs, and uses \(file.path); stop it first")
        } catch {
            // A damaged one is set aside as it is.
        }
    }
}
