import BeaconModel
import BeaconSupport
import Foundation
import Logging

/// Health, live events, the log and the metrics.
extension EventStore {
    /// The health of the store now.
    public nonisolated var health: EventStoreHealth {
        let now = clock.sinceBoot()
        return shared.withLock { shared in
            var health = Self.health(shared)
            if let began = shared.writing, now - began >= 1_000_000_000 { health.isSlow = true }
            return health
        }
    }

    private static func health(_ shared: Shared) -> EventStoreHealth {
        var health = shared.health
        (health.waitingEvents, health.waitingBytes) = (shared.tail.events, shared.tail.bytes)
        return health
    }

    /// Returns the health now and whenever a failure begins or ends, steps are dropped, or a write takes long. A caller
    /// that does not keep up gets the newest. It ends when the store is closed.
    public nonisolated func healthChanges() -> AsyncStream<EventStoreHealth> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EventStoreHealth.self, bufferingPolicy: .bufferingNewest(1))
        let number = shared.withLock { shared -> Int? in
            guard shared.file != nil else { return nil }
            shared.nextListener += 1
            shared.healthListeners[shared.nextListener] = continuation
            continuation.yield(Self.health(shared))
            return shared.nextListener
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [shared] _ in
            _ = shared.withLock { $0.healthListeners.removeValue(forKey: number) }
        }
        return stream
    }

    nonisolated func tellHealth(_ shared: inout Shared) {
        let health = Self.health(shared)
        for listener in shared.healthListeners.values { listener.yield(health) }
    }

    /// Returns the events from now on, in order. An event is sent once it is on the disk or, while the disk fails, at
    /// once as one that waits.
    ///
    /// A caller that does not keep up is ended, and resumes after the number of the last event that it got, by
    /// ``events(_:)`` or as a consumer.
    ///
    /// - Parameter capacity: the most events that wait for the caller.
    public nonisolated func live(capacity: Int = 512) -> AsyncStream<LiveEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveEvent.self, bufferingPolicy: .bufferingOldest(max(capacity, 1)))
        let number = shared.withLock { shared -> Int? in
            guard shared.file != nil else { return nil }
            shared.nextListener += 1
            shared.live[shared.nextListener] = continuation
            return shared.nextListener
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [shared] _ in _ = shared.withLock { $0.live.removeValue(forKey: number) } }
        return stream
    }

    /// Sends events to those who follow. It is called under the lock, so that all get them in one order.
    ///
    /// - Returns: those who do not keep up, to be ended without the lock.
    private static func tell(_ events: [LiveEvent], _ shared: inout Shared) -> [AsyncStream<LiveEvent>.Continuation] {
        var slow: [AsyncStream<LiveEvent>.Continuation] = []
        for (number, listener) in shared.live {
            for event in events {
                guard case .dropped = listener.yield(event) else { continue }
                slow.append(listener)
                shared.live[number] = nil
                break
            }
        }
        return slow
    }

    /// Sends the events that wait while the disk fails to those who follow.
    nonisolated func tellWaitingEvents() {
        let slow = shared.withLock { shared in
            guard shared.health.failure != nil else { return [AsyncStream<LiveEvent>.Continuation]() }
            return Self.tell(shared.tail.tellWaiting().map { .waiting($0) }, &shared)
        }
        for listener in slow { listener.finish() }
    }

    // MARK: - What happened

    /// Reports what a transaction did, once it is written.
    func report(_ writer: StepWriter, except told: Set<EventID>) {
        if !writer.stored.isEmpty { metrics.countStored(writer.stored.count) }
        let news = writer.stored.filter { !told.contains($0.event.id) }.map { LiveEvent.stored($0) }
        let slow = shared.withLock { Self.tell(news, &$0) }
        for listener in slow { listener.finish() }
        for note in writer.notes {
            switch note {
            case .skipped(let consumer, let count, let reason):
                metrics.countSkipped(count, consumer: consumer)
                logSkipped(count, consumer, reason)
            case .refused(let consumer, let id, let reason):
                metrics.countRefused(consumer: consumer)
                logger.error(
                    "an event was refused for good and is now a dead letter; correct the cause and try it again, or drop it",
                    metadata: ["consumer": "\(consumer)", "id": "\(id)", "reason": "\(reason)"])
            case .failed(let consumer, let reason, let failures):
                metrics.countRetried(consumer: consumer)
                // One warning when failures begin, one line when they end.
                logger.log(
                    level: failures == 1 ? .warning : .debug, "a consumer failed and tries again",
                    metadata: ["consumer": "\(consumer)", "reason": "\(reason)", "failures": "\(failures)"])
            case .recovered(let consumer, let failures):
                logger.info(
                    "the consumer handles events again",
                    metadata: ["consumer": "\(consumer)", "afterFailures": "\(failures)"])
            }
        }
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
        let (isNew, callers, dropped, slow) = shared.withLock { shared in
            let isNew = shared.health.failure == nil
            shared.health.failure = EventStoreHealth.Failure(
                code: error.code, message: error.message, since: shared.health.failure?.since ?? now)
            let (callers, dropped, untold) = shared.tail.fail()
            if isNew { tellHealth(&shared) }
            return (isNew, callers, dropped, Self.tell(untold.map { .waiting($0) }, &shared))
        }
        if !dropped.isEmpty { countDropped(dropped) }
        for caller in callers { caller.completion?(.failure(error)) }
        if isNew {
            logger.error("cannot write events: \(error). They wait in memory, and are tried again every second")
            metrics.setFailing(since: now.seconds)
            attention.signal()
        }
        for listener in slow { listener.finish() }
    }

    /// Ends a failure of the disk.
    func endFailure() {
        let dropped = shared.withLock { shared in
            shared.health.failure = nil
            tellHealth(&shared)
            return shared.health.dropped.values.reduce(0, +)
        }
        metrics.setFailing(since: 0)
        logger.notice("events are written again", metadata: ["droppedSinceStart": "\(dropped)"])
    }

    /// Counts events that were dropped, and logs the first of a failure.
    nonisolated func countDropped(_ steps: [Step]) {
        var kinds: [String: Int] = [:]
        for event in steps.flatMap(\.events) { kinds[event.kind, default: 0] += 1 }
        let isFirst = shared.withLock { [kinds] shared in
            let isFirst = shared.health.dropped.isEmpty
            shared.health.dropped.merge(kinds, uniquingKeysWith: +)
            tellHealth(&shared)
            return isFirst
        }
        for (kind, count) in kinds { metrics.countDropped(count, kind: kind) }
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
