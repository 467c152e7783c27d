/// An operation that waits to be written, and who waits for it.
struct PendingOperation: Sendable {
    var operation: OutboxOperation
    var continuation: CheckedContinuation<Result<Void, OutboxError>, Never>
}
