import BeaconEventStore
import BeaconModel
import BeaconSupport
import Logging

/// The worker that delivers to one destination and stores the outcomes.
struct DestinationWorker {
    /// The destination. It may select other notifications than before.
    var destination: Destination

    /// The number of consecutive failed attempts.
    private var failures = 0

    /// The wall-clock time of the first of these failures; nil while the destination accepts.
    private var failingSince: Timestamp?

    /// The service's time of the first failure. Changes of the wall clock do not affect it.
    private var failingSinceHere: Duration?

    /// The wait before the next attempt after a failure.
    private var pause: Duration?

    /// The service's time of the last reminder about a long failure.
    private var lastReminder: Duration?

    /// The duration after which a failure is reported as a long one, and the interval of reminders about it.
    static let longFailure = Duration.seconds(3600)

    /// The number of consecutive failures to use the event store.
    var storeFailures = 0

    /// The outcomes of the last notifications while they are not stored. Until they are, nothing more is sent;
    /// otherwise the same notifications would be sent repeatedly while the disk is full.
    private var unstored: Step?

    init(destination: Destination) { self.destination = destination }

    /// Takes over the failures from a status.
    mutating func update(from status: ConsumerStatus) {
        if failingSince != status.failingSince { failingSinceHere = nil }
        if status.failingSince == nil { lastReminder = nil }
        (failures, failingSince) = (status.failures, status.failingSince)
    }

    /// Stores the outcomes of the last notifications if that failed before.
    ///
    /// - Returns: Whether there were any.
    mutating func storeOutcomes(in store: EventStore) async throws(EventStoreError) -> Bool {
        guard let unstored else { return false }
        do {
            try await store.append(unstored)
        } catch {
            // An operator changed the destination's queue: read it again.
            guard error.code == .conflict || error.code == .unknownConsumer else { throw error }
        }
        self.unstored = nil
        storeFailures = 0
        return true
    }

    /// Returns the wait before the next attempt after a failure, and clears it.
    mutating func takePause() -> Duration? {
        defer { pause = nil }
        return pause
    }

    /// Sends notifications and stores their outcomes.
    ///
    /// - Parameter time: the service's time.
    mutating func deliver(
        _ batch: EventBatch, from store: EventStore, at time: Duration, logger: Logger
    ) async throws(EventStoreError) {
        var entries: [QueuedNotification] = []
        var outcomes: [DeliveryOutcome] = []
        for (index, event) in batch.events.enumerated() {
            guard let reason = BeaconNotification.refusal(of: event.event) else {
                var entry = QueuedNotification(event, index == 0 ? failures : 0)
                entry.event = destination.selection(of: event.event)
                entries.append(entry)
                continue
            }
            // Send the notifications before it first.
            guard entries.isEmpty else { break }
            outcomes.append(.refused(reason: reason))
        }
        if !entries.isEmpty {
            let sent = await destination.sink.deliver(entries)
            // The task was canceled before any attempt.
            if sent.isEmpty, outcomes.isEmpty, Task.isCancelled { return }
            outcomes += sent.isEmpty ? [.retry(reason: "the destination returned no outcome")] : sent
        }
        unstored = step(for: outcomes, of: batch, at: (time, store.wallTime), logger: logger)
        _ = try await storeOutcomes(in: store)
    }

    /// Returns the step that stores outcomes.
    private mutating func step(
        for outcomes: [DeliveryOutcome], of batch: EventBatch, at now: (service: Duration, wall: Timestamp),
        logger: Logger
    ) -> Step {
        let failuresBefore = failures
        var (passed, refused) = (0, [Int64: String]())
        var failure: (reason: String, pause: Duration)?
        outcomes: for (event, outcome) in zip(batch.events, outcomes) {
            switch outcome {
            case .delivered:
                failures = 0
            case .refused(let reason):
                refused[event.number] = reason
                failures = 0
                logger.error(
                    """
                    a notification was refused for good and is now a dead letter; correct the cause and send it again \
                    with `beacond outbox retry`, or drop it
                    """,
                    metadata: [
                        "destination": "\(destination.name)", "id": "\(event.event.id)", "reason": "\(reason)",
                    ])
            case .retry(let reason, let after):
                // A delivery that ended with the service is not a failure of the destination.
                guard !Task.isCancelled else { break outcomes }
                failures += 1
                var generator = SystemRandom()
                let pause = destination.retryPolicy.wait(afterFailures: failures, asked: after, using: &generator)
                (self.pause, failure) = (pause, (reason, pause))
                // Log one warning when failures begin, and one line when they end.
                logger.log(
                    level: failures == 1 ? .warning : .debug, "a delivery failed and will be retried",
                    metadata: [
                        "destination": "\(destination.name)", "reason": "\(reason)", "failures": "\(failures)",
                        "retryAfter": "\(DurationText.text(pause))",
                    ])
                remind(of: reason, at: now, logger: logger)
                // The notifications after it were not tried.
                break outcomes
            }
            passed += 1
        }
        var step = Step()
        if passed > 0 { step.commit(batch.prefix(passed), refused: refused) }
        if let failure { step.fail(destination.name, failure.reason, retryAfter: failure.pause) }
        if failuresBefore > 0, failures == 0 {
            (failingSince, failingSinceHere, lastReminder) = (nil, nil, nil)
            logger.info(
                "the destination accepts notifications again",
                metadata: ["destination": "\(destination.name)", "afterFailures": "\(failuresBefore)"])
        }
        return step
    }

    /// Logs once an hour that the destination keeps failing.
    private mutating func remind(
        of reason: String, at now: (service: Duration, wall: Timestamp), logger: Logger
    ) {
        guard let since = failingSince else { return }
        let begin = failingSinceHere ?? now.service - .nanoseconds(max(0, now.wall.since(since)))
        failingSinceHere = begin
        let length = now.service - begin
        guard length >= Self.longFailure, lastReminder.map({ now.service - $0 >= Self.longFailure }) ?? true
        else { return }
        lastReminder = now.service
        logger.error(
            "the destination has failed for more than an hour; its notifications wait, within their bounds",
            metadata: [
                "destination": "\(destination.name)", "reason": "\(reason)",
                "hours": "\(length.components.seconds / Self.longFailure.components.seconds)",
            ])
    }
}
