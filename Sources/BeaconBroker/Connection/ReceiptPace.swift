/// The pace at which messages arrive, and the pauses in which the messages of a crowd gather.
///
/// Each message alone wakes a thread of each stage that it passes. Where messages come in quick succession, the client
/// lets the next ones gather in the socket for a moment, and they pass together. A single message never waits.
struct ReceiptPace {
    /// The length of a pause: short beside the interval of any beacon, and long enough for several messages.
    static let pause = Duration.milliseconds(5)

    /// The time between two receipts below which messages come in quick succession: a pause is for three of them.
    private static let quick = pause / 3

    private var last: ContinuousClock.Instant?
    private var isQuick = false

    /// Notes that messages were received.
    mutating func note(at now: ContinuousClock.Instant) {
        if let last, now - last < Self.quick { isQuick = true }
        last = now
    }

    /// Returns the pause to make once nothing more waits to be read; nil for none.
    mutating func takePause(at now: ContinuousClock.Instant) -> Duration? {
        guard isQuick else { return nil }
        isQuick = false
        // The messages that gather until then came in quick succession too.
        last = now + Self.pause
        return Self.pause
    }
}
