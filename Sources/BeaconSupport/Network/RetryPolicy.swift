/// The waits between attempts: exponential back-off with full jitter.
///
/// Full jitter is a wait between zero and the bound. It spreads many gateways that lost a backend at the same time
/// better than jitter over a part of the bound (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
/// 2015).
public struct RetryPolicy: Hashable, Sendable {
    /// The bound of the first wait.
    public var base: Duration

    /// The bound of every wait.
    public var maximum: Duration

    /// The longest wait that a destination can request. A longer request is cut to this.
    public var maximumRetryAfter: Duration

    /// The number of failures after which a wait no longer doubles: by then it has reached any maximum.
    fileprivate static let maximumDoublings = 64

    /// Creates waits that double up to a maximum.
    ///
    /// - Parameters:
    ///   - base: the bound of the first wait; each further bound is twice as long.
    ///   - maximum: the bound of every wait.
    ///   - maximumRetryAfter: the longest wait that a destination can request.
    public init(
        base: Duration = .seconds(1), maximum: Duration = .seconds(300), maximumRetryAfter: Duration = .seconds(86_400)
    ) {
        self.base = base
        self.maximum = maximum
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// Returns the bound of the wait after a number of failures in a row, the first of which is 1.
    public func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 1..<max(min(failures, Self.maximumDoublings), 1) where bound < maximum { bound *= 2 }
        return min(bound, maximum)
    }

    /// Returns the wait after a number of failures in a row.
    ///
    /// - Parameters:
    ///   - failures: the number of failures, at least 1.
    ///   - asked: the wait that the destination requested. The result is never shorter, except for
    ///     ``maximumRetryAfter``.
    ///   - generator: the source of the jitter.
    public func wait(
        afterFailures failures: Int, asked: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let jittered = bound(afterFailures: failures) * Double.random(in: 0...1, using: &generator)
        guard let asked, asked > .zero else { return jittered }
        // Spread gateways that received the same request.
        return min(asked, maximumRetryAfter) + min(jittered, base)
    }
}

/// Waits that double after each failure, up to a bound and without jitter. They are the bounds of a ``RetryPolicy``.
package struct Backoff: Sendable {
    private let policy: RetryPolicy
    private var failures = 1

    /// Creates a back-off that starts with the first wait.
    package init(first: Duration, longest: Duration) { policy = RetryPolicy(base: first, maximum: longest) }

    /// The wait that ``next()`` returns.
    package var upcoming: Duration { policy.bound(afterFailures: failures) }

    /// Returns the wait after another failure.
    @discardableResult
    package mutating func next() -> Duration {
        defer { failures = min(failures + 1, RetryPolicy.maximumDoublings) }
        return upcoming
    }

    /// Starts again with the first wait, after a success.
    package mutating func reset() { failures = 1 }
}
