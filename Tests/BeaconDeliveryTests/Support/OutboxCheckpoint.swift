import Foundation
import GRDB

/// Has SQLite write an outbox's log into the file itself, where a test can damage it.
enum OutboxCheckpoint {
    static func run(on file: URL) throws {
        let queue = try DatabaseQueue(path: file.path)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try queue.close()
    }
}
