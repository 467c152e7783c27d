import BeaconSupport
import CLibrary
public import Foundation

/// An outbox file that this process has open, as long as this lives.
///
/// Closing any descriptor of a file gives up every lock that the process has on it (fcntl(2)), SQLite's among them.
/// Another process then takes itself for the last that uses the file and deletes the log, with all that is written to
/// it from then on (SQLite, "How To Corrupt An SQLite Database File", 2.2). So nothing but SQLite may open one of
/// these.
final class OpenOutboxFile: Sendable {
    /// A file, whatever name it is opened by.
    private struct Identity: Hashable {
        var device: UInt
        var number: UInt

        /// The file at a path; nil where there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
        }
    }

    /// The open files, each with the number of those who have it open.
    private static let files = Locked<[Identity: Int]>([:])

    private let identity: Identity

    /// Notes that a file is about to be opened; nil where there is none.
    init?(_ file: URL) {
        guard let identity = Identity(file.path) else { return nil }
        self.identity = identity
        Self.files.withLock { $0[identity, default: 0] += 1 }
    }

    deinit {
        Self.files.withLock { [identity] files in
            let left = files[identity, default: 1] - 1
            files[identity] = left > 0 ? left : nil
        }
    }

    /// Looks at a file, and returns what was found; nil, without looking, where this process has it open. Nobody opens
    /// it meanwhile.
    static func unlessOpen<Found>(_ path: String, _ look: () -> Found?) -> Found? {
        guard let file = Identity(path) else { return nil }
        return files.withLock { $0[file] == nil ? look() : nil }
    }
}

extension Outbox {
    /// Returns what keeps a file from being an outbox, in words that follow its path; nil where nothing does, or where
    /// it is still to be created. Nothing is changed, and an outbox that this or another process uses is not disturbed.
    public static func fault(of file: URL) -> String? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else { return nil }
        if isFolder.boolValue { return "is a folder; write the path of a file" }
        return OpenOutboxFile.unlessOpen(file.path) {
            guard let handle = FileHandle(forReadingAtPath: file.path) else { return "cannot be read by this user" }
            defer { try? handle.close() }
            // SQLite, "Database File Format", 1.3.
            let beginning = (try? handle.read(upToCount: 15)) ?? Data()
            return beginning.isEmpty || beginning == Data("SQLite format 3".utf8)
                ? nil : "is no outbox; give the outbox a file of its own"
        }
    }
}
