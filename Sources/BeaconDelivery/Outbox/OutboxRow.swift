import Foundation

/// A row of a queue, not read yet.
struct OutboxRow: Sendable {
    var sequence: Int64
    var attempts: Int
    var record: Data
}
