import BeaconSupport
import Foundation

/// A temporary file that will replace another one in the same folder. If the process is killed, the file is removed
/// when a store in the folder is next opened.
final class PartialFile {
    let path: String
    private let target: String
    private var lock: FileLock?

    private static let mark = ".partial-"

    init(for target: String) throws(StateError) {
        self.target = target
        path = "\(target)\(Self.mark)\(UUID().uuidString)"
        try AtomicFile.makeFolder(URL(fileURLWithPath: target).deletingLastPathComponent().path)
        try AtomicFile.make(path)
        lock = try FileLock(exclusive: path)
    }

    /// Moves the file into its place, after syncing it to disk.
    func finish() throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.synchronize()
        try handle.close()
        try AtomicFile.rename(path, to: target)
        lock = nil
    }

    deinit {
        guard lock != nil else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes the partial files in a folder that no process has locked.
    static func sweep(_ folder: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            guard let mark = name.range(of: mark), UUID(uuidString: String(name[mark.upperBound...])) != nil else {
                continue
            }
            let path = folder.appendingPathComponent(name).path
            if !FileLock.isHeld(path) { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
