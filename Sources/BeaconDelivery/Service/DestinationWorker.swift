import BeaconModel
import BeaconSupport
import Logging

/// The delivery to one destination: its attempts, and the storing of their outcomes.
struct DestinationWorker {
    private let destination: Destination

    /// The number of attempts in a row that have failed.
    var failures = 0

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

    /// Sends entries and stores their outcomes.
    mutating func deliver(
        _ entries: [OutboxEntry], from outbox: Outbox, logger: Logger
    ) async throws(OutboxError) {
        var resolution = QueueResolution()
        // The settings may have changed since a notification came in.
        let wanted = entries.filter { destination.wants($0.notification) }
        if wanted.count < entries.count {
            resolution.unwanted = entries.filter { !destination.wants($0.notification) }.map(\.sequence)
        }
        if !wanted.isEmpty {
            var outcomes = await destination.sink.deliver(wanted)
            if outcomes.isEmpty {
                // Nothing was tried, since the task is cancelled.
                if Task.isCancelled { return }
                outcomes = [.retry(reason: "the destination returned no outcome")]
            }
            add(outcomes, of: wanted, to: &resolution, at: outbox.wallTime(), logger: logger)
        }
        unstored = resolution
        _ = try await storeOutcomes(in: outbox)
    }

    private mutating func add(
        _ outcomes: [DeliveryOutcome], of entries: [OutboxEntry], to resolution: inout QueueResolution,
        at now: Timestamp, logger: Logger
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
                failures += 1
                var generator = SystemRandom()
                let pause = destination.retryPolicy.wait(afterFailures: failures, asked: after, using: &generator)
                resolution.failure = QueueResolution.Failure(
                    sequence: entry.sequence, reason: reason, failures: failures,
                    notBefore: now.advanced(by: pause.clampedNanoseconds).milliseconds + 1)
                // One warning when failures begin, one line when they end.
                logger.log(
                    level: failures == 1 ? .warning : .debug, "a delivery failed and is tried again",
                    metadata: [
                        "destination": "\(destination.name)", "reason": "\(reason)", "failures": "\(failures)",
                        "retryAfter": "\(pause)",
                    ])
            }
        }
        guard failuresBefore > 0, resolution.failure == nil else { return }
        resolution.isRecovery = true
        logger.info(
            "the destination accepts notifications again",
            metadata: ["destination": "\(destination.name)", "afterFailures": "\(failuresBefore)"])
    }
}
