/// Runs an operation until it or a limit ends. The other one is cancelled and awaited.
///
/// - Parameters:
///   - operation: the operation.
///   - limit: a function that returns when the operation has taken too long.
/// - Returns: the operation's result; nil if the limit ended first.
package func result<Result: Sendable>(
    of operation: @escaping @Sendable () async -> Result, before limit: @escaping @Sendable () async -> Void
) async -> Result? {
    await withTaskGroup(of: Result?.self) { group in
        group.addTask { await operation() }
        group.addTask {
            await limit()
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        return first
    }
}

/// Runs an operation for a limited time. An operation that takes longer is cancelled and awaited.
///
/// - Parameters:
///   - limit: the longest time.
///   - clock: the clock that measures the time.
///   - operation: the operation.
/// - Returns: the operation's result; nil if it took longer.
package func within<Result: Sendable, C: Clock<Duration>>(
    _ limit: Duration, by clock: C = ContinuousClock(), _ operation: @escaping @Sendable () async -> Result
) async -> Result? {
    await result(of: operation) { try? await clock.sleep(for: limit) }
}

extension AsyncSignal {
    /// Waits until the signal was sent more than `seen` times, a time has passed, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - seen: the count that the caller knows.
    ///   - limit: the longest wait.
    ///   - clock: the clock that measures the time.
    package func wait<C: Clock<Duration>>(
        after seen: Int, atMost limit: Duration, by clock: C = ContinuousClock()
    ) async {
        _ = await within(limit, by: clock) { await self.wait(after: seen) }
    }
}
