import BeaconModel
import BeaconSupport
import Logging

/// The delivery to one destination: its attempts, and the storing of their outcomes.
struct DestinationWorker {
    /// The destination, which may want other notifications than before.
    var destination: Destination

    /// The number of attempts in a row that have failed.
    var failures = 0

    /// When the attempts in a row that have failed began, by the wall clock; nil while the destination accepts.
    var failingSince: Timestamp?

    /// The time of the service since which the destination fails, so that a wall clock that is set does not count.
    private var failingSinceHere: Duration?

    /// The wait before the next attempt, where the last one failed.
    private var pause: Duration?

    /// The time of the service at which it was last logged that the destination has failed for long.
    private var lastReminder: Duration?

    /// The time for which a destination has to fail before that is a state of its own, and between two lines about it.
    static let longFailure = Duration.seconds(3600)

    /// The number of times in a row that the outbox could not be used.
    var outboxFailures = 0

    /// The outcomes of the last entries, where they are not stored. Nothing more is sent until they are: the same
    /// entries would be sent again and again while the disk is full.
    private var unstored: QueueResolution?

    init(destination: Destination) { self.destination = destination }

    /// Stores the outcomes of the last entries, where that failed before.
    ///
    /// - Returns: true where there were any.
    mutating func storeOutcomes(in outbox: Outbox) async throws(OutboxError) -> Bool {
        guard let unstored else { return false }
        try await outbox.resolve(unstored, of: destination.name)
        self.unstored = nil
        outboxFailures = 0
        return true
    }

    /// Returns the wait before the next attempt, where the last one failed, once.
    mutating func takePause() -> Duration? {
        defer { pause = nil }
        return pause
    }

    /// Sends entries and stores their outcomes.
    ///
    /// - Parameter time: the time of the service.
    mutating func deliver(
        _ entries: [OutboxEntry], from outbox: Outbox, at time: Duration, logger: Logger
    ) async throws(OutboxError) {
        var resolution = QueueResolution()
        // The settings may have changed since a notification came in.
        let wanted = entries.filter { destination.wants($0.notification) }
        if wanted.count < entries.count {
            resolution.unwanted = entries.filter { !destination.wants($0.notification) }.map(\.sequence)
            logger.warning(
                "dropped notifications that the destination no longer wants, since its settings or a region's name changed",
                metadata: ["destination": "\(destination.name)", "count": "\(resolution.unwanted.count)"])
        }
        if !wanted.isEmpty {
            var outcomes = await destination.sink.deliver(wanted)
            if outcomes.isEmpty {
                // Nothing was tried, since the task is cancelled.
                if Task.isCancelled { return }
                outcomes = [.retry(reason: "the destination returned no outcome")]
            }
            add(outcomes, of: wanted, to: &resolution, at: (time, outbox.wallTime), logger: logger)
        }
        unstored = resolution
        _ = try await storeOutcomes(in: outbox)
    }

    /// Logs that the destination has failed for long, once an hour.
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
            "the destination has failed for more than an hour; its notifications wait, up to the limits of the outbox",
            metadata: [
                "destination": "\(destination.name)", "reason": "\(reason)",
                "hours": "\(length.components.seconds / Self.longFailure.components.seconds)",
            ])
    }

    private mutating func add(
        _ outcomes: [DeliveryOutcome], of entries: [OutboxEntry], to resolution: inout QueueResolution,
        at now: (service: Duration, wall: Timestamp), logger: Logger
    ) {
        let failuresBefore = failures
        for (entry, outcome) in zip(entries, outcomes) {
            switch outcome {
            case .delivered:
                resolution.delivered.append(entry.sequence)
                failures = 0
            case .refused(let reason):
                resolution.refused.append(QueueResolution.Refused(sequence: entry.sequence, reason: reason))
                failures = 0
                logger.error(
                    """
                    a notification was refused for good and is now a dead letter; correct the cause and send it again \
                    with `beacond outbox retry`, or drop it
                    """,
                    metadata: [
                        "destination": "\(destination.name)", "id": "\(entry.notification.id)", "reason": "\(reason)",
                    ])
            case .retry(let reason, let after):
                // Only the first that fails waits; those behind it were not tried.
                guard resolution.failure == nil else { continue }
                // What ended with the service is no failure of the destination, and would hide one.
                guard !Task.isCancelled else { continue }
                failures += 1
                var generator = SystemRandom()
                let pause = destination.retryPolicy.wait(afterFailures: failures, asked: after, using: &generator)
                self.pause = pause
                if failingSince == nil { failingSince = now.wall }
                resolution.failure = QueueResolution.Failure(
                    sequence: entry.sequence, reason: reason, failures: failures,
                    since: failingSince?.milliseconds ?? now.wall.milliseconds,
                    notBefore: now.wall.advanced(by: pause.clampedNanoseconds).milliseconds + 1)
                // One warning when failures begin, one line when they end.
                logger.log(
                    level: failures == 1 ? .warning : .debug, "a delivery failed and is tried again",
                    metadata: [
                        "destination": "\(destination.name)", "reason": "\(reason)", "failures": "\(failures)",
                        "retryAfter": "\(DurationText.text(pause))",
                    ])
                remind(of: reason, at: now, logger: logger)
            }
        }
        // What was given up with the service says nothing.
        guard failuresBefore > 0, failures == 0, resolution.failure == nil else { return }
        resolution.isRecovery = true
        failingSince = nil
        failingSinceHere = nil
        lastReminder = nil
        logger.info(
            "the destination accepts notifications again",
            metadata: ["destination": "\(destination.name)", "afterFailures": "\(failuresBefore)"])
    }
}
