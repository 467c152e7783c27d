import Foundation
import GRDB

/// A folder of a test's own, which goes with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("swift-beacon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// Has SQLite write an outbox's log into the file itself, where a test can damage it.
enum OutboxCheckpoint {
    static func run(on file: URL) throws {
        let queue = try DatabaseQueue(path: file.path)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try queue.close()
    }
}
