/// How long to wait before a notification is sent again: exponential, with full jitter.
///
/// Full jitter, a wait between nothing and the bound, spreads many gateways that lost one backend at one moment better
/// than a part of the bound does (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
public struct BackOff: Hashable, Sendable {
    /// The bound of the first wait.
    public var base: Duration

    /// The bound of every wait.
    public var maximum: Duration

    /// The longest that a destination may ask to be left alone. One that asks for more is tried after this.
    public var maximumRetryAfter: Duration

    /// Waits of up to 1 s, 2 s, 4 s and so on to 5 minutes; a destination may ask for a day at most.
    public init(
        base: Duration = .seconds(1), maximum: Duration = .seconds(300), maximumRetryAfter: Duration = .seconds(86_400)
    ) {
        self.base = base
        self.maximum = maximum
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// The bound of the wait after so many failures in a row, the first of which is 1.
    public func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 1..<max(min(failures, 64), 1) where bound < maximum { bound *= 2 }
        return min(bound, maximum)
    }

    /// How long to wait after so many failures in a row.
    ///
    /// - Parameters:
    ///   - failures: at least 1.
    ///   - asked: what the destination asked for. The wait is never shorter, but for ``maximumRetryAfter``.
    ///   - generator: where chance comes from.
    public func wait(
        afterFailures failures: Int, asked: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let jittered = bound(afterFailures: failures) * Double.random(in: 0...1, using: &generator)
        guard let asked, asked > .zero else { return jittered }
        // Those who were all told the same do not come back all at once.
        return min(asked, maximumRetryAfter) + min(jittered, base)
    }
}
