package import BeaconModel
import BeaconSupport
import Foundation
import Logging
import Metrics

/// The health, followers, log and metrics of the store.
extension EventStore {
    /// The time since 1970, by the wall clock.
    package nonisolated var wallTime: Timestamp { clock.wall() }

    /// The current health of the store.
    public nonisolated var health: EventStoreHealth {
        let now = clock.sinceBoot()
        return shared.withLock { shared in
            var health = shared.health
            (health.waitingEvents, health.waitingBytes) = (shared.tail.amount.count, shared.tail.amount.bytes)
            health.isSlow = shared.writing.map { now - $0 >= 1_000_000_000 } ?? false
            return health
        }
    }

    /// Calls a function with the events of each further transaction, in order, before the append returns, and another
    /// one when the disk begins to fail. They run on the store's queue, so they must return at once.
    package nonisolated func follow(
        _ receive: @escaping @Sendable ([StoredEvent]) -> Void, failing: @escaping @Sendable () -> Void = {}
    ) {
        shared.withLock { $0.followers.append((receive, failing)) }
    }

    // MARK: - Reports

    /// Reports the results of a transaction, after it is written.
    func report(_ writer: StepWriter) {
        if !writer.stored.isEmpty {
            storedCounter.increment(by: writer.stored.count)
            for follower in shared.withLock({ $0.followers }) { follower.receive(writer.stored) }
        }
        for (consumer, count, reason) in writer.skips { logSkipped(count, consumer, reason) }
    }

    /// Logs skipped events at once, and then once a minute with their number, because a consumer that is behind skips
    /// events continuously.
    private func logSkipped(_ count: Int, _ consumer: String, _ reason: String) {
        let now = clock.sinceBoot()
        var skips = unreportedSkips[consumer] ?? (0, nil)
        skips.count += count
        if skips.logged.map({ now - $0 >= 60_000_000_000 }) ?? true {
            logger.warning(
                "a consumer skipped events because \(reason); find out why it does not handle them",
                metadata: ["consumer": "\(consumer)", "count": "\(skips.count)"])
            skips = (0, now)
        }
        unreportedSkips[consumer] = skips
    }

    /// Begins or continues a failure of the disk: waiting callers receive the error, and other steps wait.
    func fail(_ error: EventStoreError) {
        let now = clock.wall()
        let (isNew, callers, dropped) = shared.withLock { shared in
            let isNew = shared.health.failure == nil
            shared.health.failure = EventStoreHealth.Failure(
                code: error.code, message: error.message, since: shared.health.failure?.since ?? now)
            let (callers, dropped) = shared.tail.fail()
            // Retry every second, so that the failure also ends if no step waits.
            if shared.tail.entries.isEmpty { _ = shared.tail.add(PendingStep(Step())) }
            return (isNew, callers, dropped)
        }
        if !dropped.isEmpty { countDropped(dropped) }
        for caller in callers { caller.completion?(.failure(error)) }
        if isNew {
            logger.error("cannot write events: \(error). They wait in memory, and the store tries again every second")
            failingGauge.record(now.seconds)
            attention.signal()
            for follower in shared.withLock({ $0.followers }) { follower.failing() }
        }
    }

    /// Ends a failure of the disk.
    func endFailure() {
        let dropped = shared.withLock { shared in
            shared.health.failure = nil
            return shared.health.dropped.values.reduce(0, +)
        }
        failingGauge.record(0)
        logger.notice("events are being written again", metadata: ["droppedSinceStart": "\(dropped)"])
    }

    /// Counts dropped events, and logs the first ones of a failure.
    nonisolated func countDropped(_ steps: [Step]) {
        var kinds: [String: Int] = [:]
        for step in steps {
            let events = step.events + step.addressed.map(\.event)
            for event in events { kinds[event.kind, default: 0] += 1 }
            // A step without events has only state, such as the outcome of a rule.
            if events.isEmpty { kinds["state", default: 0] += 1 }
        }
        let isFirst = shared.withLock { [kinds] shared in
            let isFirst = shared.health.dropped.isEmpty
            shared.health.dropped.merge(kinds, uniquingKeysWith: +)
            return isFirst
        }
        for (kind, count) in kinds {
            // Drops are rare, so counters are not stored: a backend returns the same counter for the same label.
            Counter(label: "beacon_event_store_dropped_total", dimensions: [("kind", kind)], factory: metrics)
                .increment(by: count)
        }
        if isFirst {
            logger.error(
                "dropping events, because too many wait in memory for the disk; the store's health counts them",
                metadata: ["kinds": "\(kinds.keys.sorted().joined(separator: ", "))"])
        }
    }

    /// Counts unreadable events, and logs the first ones.
    nonisolated func reportDamagedEvents(_ count: Int) {
        let isFirst = shared.withLock { shared in
            defer { shared.health.damagedEvents += count }
            return shared.health.damagedEvents == 0
        }
        if isFirst { logger.error("events in \(file.path) cannot be read and are skipped; check the disk") }
    }
}
