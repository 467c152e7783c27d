/// What became of the entries of one destination that were sent.
struct QueueResolution: Sendable {
    /// An entry that was refused for good.
    struct Refused: Sendable {
        var sequence: Int64
        var reason: String
    }

    /// The entry at which it stopped.
    struct Failure: Sendable {
        var sequence: Int64
        var reason: String
        /// How many attempts in a row have failed now.
        var failures: Int
        /// When to try again, in milliseconds since 1970.
        var notBefore: Int64
    }

    var delivered: [Int64] = []
    /// What the destination does not want any more.
    var unwanted: [Int64] = []
    var refused: [Refused] = []
    var failure: Failure?
    /// Whether attempts had failed before, and now one did not.
    var isRecovery = false
}
