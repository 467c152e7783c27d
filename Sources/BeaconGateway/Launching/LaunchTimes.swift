/// When something may be started again: not too often, and rarer and rarer while it fails.
struct LaunchTimes: Hashable, Sendable {
    /// The longest that failures hold it back.
    static let longest = Duration.seconds(3600)

    private let interval: Duration
    private var failures = 0
    private var last: ContinuousClock.Instant?

    /// What may be started once in an interval.
    init(interval: Duration) { self.interval = interval }

    /// How long to wait from now on; zero if it may be at once.
    func wait(at now: ContinuousClock.Instant) -> Duration {
        guard let last else { return .zero }
        var pause = interval
        for _ in 0..<min(failures, 20) where pause < Self.longest { pause = max(pause * 2, .seconds(1)) }
        return max(.zero, last + (failures == 0 ? interval : min(pause, Self.longest)) - now)
    }

    /// It is started now.
    mutating func start(at now: ContinuousClock.Instant) { last = now }

    /// It went well, or not.
    mutating func end(_ isSuccess: Bool) { failures = isSuccess ? 0 : failures + 1 }
}
