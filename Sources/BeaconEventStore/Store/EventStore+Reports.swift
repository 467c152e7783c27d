package import BeaconModel
import BeaconSupport
import Foundation
import Logging
import Metrics

/// Health, followers, the log and the metrics.
extension EventStore {
    /// The time since 1970, by the wall clock.
    package nonisolated var wallTime: Timestamp { clock.wall() }

    /// The health of the store now.
    public nonisolated var health: EventStoreHealth {
        let now = clock.sinceBoot()
        return shared.withLock { shared in
            var health = shared.health
            (health.waitingEvents, health.waitingBytes) = (shared.tail.amount.count, shared.tail.amount.bytes)
            health.isSlow = shared.writing.map { now - $0 >= 1_000_000_000 } ?? false
            return health
        }
    }

    /// Calls a function with the events of each transaction from now on, in order, before the append returns. The
    /// function runs on the store's queue, so it must return at once.
    package nonisolated func follow(_ receive: @escaping @Sendable ([StoredEvent]) -> Void) {
        shared.withLock { $0.followers.append(receive) }
    }

    // MARK: - What happened

    /// Reports what a transaction did, once it is written.
    func report(_ writer: StepWriter) {
        if !writer.stored.isEmpty {
            storedCounter.increment(by: writer.stored.count)
            for follower in shared.withLock({ $0.followers }) { follower(writer.stored) }
        }
        for (consumer, count, reason) in writer.skips { logSkipped(count, consumer, reason) }
    }

    /// Logs skipped events at once, and then once a minute with their number: a consumer that is behind skips all the
    /// time.
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

    /// Begins or continues a failure of the disk: callers learn of it, other steps wait.
    func fail(_ error: EventStoreError) {
        let now = clock.wall()
        let (isNew, callers, dropped) = shared.withLock { shared in
            let isNew = shared.health.failure == nil
            shared.health.failure = EventStoreHealth.Failure(
                code: error.code, message: error.message, since: shared.health.failure?.since ?? now)
            let (callers, dropped) = shared.tail.fail()
            // It is tried again every second, so that the failure ends where no step waits, too.
            if shared.tail.entries.isEmpty { _ = shared.tail.add(PendingStep(Step())) }
            return (isNew, callers, dropped)
        }
        if !dropped.isEmpty { countDropped(dropped) }
        for caller in callers { caller.completion?(.failure(error)) }
        if isNew {
            logger.error("cannot write events: \(error). They wait in memory, and are tried again every second")
            failingGauge.record(now.seconds)
            attention.signal()
        }
    }

    /// Ends a failure of the disk.
    func endFailure() {
        let dropped = shared.withLock { shared in
            shared.health.failure = nil
            return shared.health.dropped.values.reduce(0, +)
        }
        failingGauge.record(0)
        logger.notice("events are written again", metadata: ["droppedSinceStart": "\(dropped)"])
    }

    /// Counts events that were dropped, and logs the first of a failure.
    nonisolated func countDropped(_ steps: [Step]) {
        var kinds: [String: Int] = [:]
        for event in steps.flatMap({ $0.events + $0.addressed.map(\.event) }) { kinds[event.kind, default: 0] += 1 }
        let isFirst = shared.withLock { [kinds] shared in
            let isFirst = shared.health.dropped.isEmpty
            shared.health.dropped.merge(kinds, uniquingKeysWith: +)
            return isFirst
        }
        for (kind, count) in kinds {
            // These are rare, so that none is kept: a backend returns the same counter for the same label.
            Counter(label: "beacon_event_store_dropped_total", dimensions: [("kind", kind)], factory: metrics)
                .increment(by: count)
        }
        if isFirst {
            logger.error(
                "events are dropped, since more wait in memory for the disk than the bounds allow; the health counts them",
                metadata: ["kinds": "\(kinds.keys.sorted().joined(separator: ", "))"])
        }
    }

    /// Counts events that could not be read, and logs the first.
    nonisolated func reportDamagedEvents(_ count: Int) {
        let isFirst = shared.withLock { shared in
            defer { shared.health.damagedEvents += count }
            return shared.health.damagedEvents == 0
        }
        if isFirst { logger.error("events in \(file.path) cannot be read and are passed over; check the disk") }
    }
}
