/// The pauses in which messages that arrive in quick succession are collected.
///
/// A single message wakes a thread at each stage of its processing. If messages arrive in quick succession, the client
/// lets the next ones collect in the socket for a short time and processes them together. A single message never waits.
struct ReceiptPace {
    /// The length of a pause: short compared with the interval of any beacon, and long enough for several messages.
    static let pause = Duration.milliseconds(5)

    /// The time between two receipts below which messages count as quick, so that a pause collects three of them.
    private static let quick = pause / 3

    private var last: ContinuousClock.Instant?
    private var isQuick = false

    /// Records that messages were received.
    mutating func note(at now: ContinuousClock.Instant) {
        if let last, now - last < Self.quick { isQuick = true }
        last = now
    }

    /// Returns the pause to make after everything is read; nil for none.
    mutating func takePause(at now: ContinuousClock.Instant) -> Duration? {
        guard isQuick else { return nil }
        isQuick = false
        // Messages that arrive during the pause are in quick succession as well.
        last = now + Self.pause
        return Self.pause
    }
}
