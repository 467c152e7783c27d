/// What a transaction did, for the log and the metrics, once it is written.
struct OutboxEffects: Sendable {
    var appended: [String: Int] = [:]
    var dropped: [String: Int] = [:]
    var resolved: [(destination: String, resolution: QueueResolution)] = []
}
